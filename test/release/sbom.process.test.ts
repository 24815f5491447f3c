import { execFileSync } from "node:child_process";
import { globSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const root = resolve(import.meta.dirname, "../..");
const scratch = mkdtempSync(join(tmpdir(), "portolan-sbom-test-"));
afterAll(() => rmSync(scratch, { recursive: true }));

interface Component {
  readonly name: string;
  readonly version: string;
  readonly purl: string;
  readonly "bom-ref": string;
  readonly hashes?: readonly { readonly alg: string; readonly content: string }[];
  readonly licenses?: readonly unknown[];
  readonly properties: readonly { readonly name: string; readonly value: string }[];
}

interface Bill {
  readonly bomFormat: string;
  readonly specVersion: string;
  readonly serialNumber: string;
  readonly metadata: { readonly timestamp: string; readonly component: Component };
  readonly components: readonly Component[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn?: readonly string[] }[];
}

interface Locked {
  readonly version: string;
  readonly integrity?: string;
  readonly dependencies?: Readonly<Record<string, string>>;
}

const jsonOf = (file: string) => JSON.parse(readFileSync(file, "utf8"));
const manifest = jsonOf(join(root, "package.json"));
const lock: { readonly packages: Readonly<Record<string, Locked>> } = jsonOf(join(root, "package-lock.json"));

/** Where Node finds a package that another asks for. */
function placeOf(asking: string, name: string): string {
  for (let at = asking; ; at = at.slice(0, at.lastIndexOf("node_modules/")).replace(/\/$/, "")) {
    const place = `${at === "" ? "" : `${at}/`}node_modules/${name}`;
    if (lock.packages[place] !== undefined) return place;
    if (at === "") throw new Error(`${name}, which ${asking} asks for, is not in the lock file`);
  }
}

/** What an install of the package brings: place in the lock file → name. */
function brought(): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  const next = Object.keys(manifest.dependencies).map((name) => ({ asking: "", name }));
  for (const { asking, name } of next) {
    const place = placeOf(asking, name);
    if (found.has(place)) continue;
    found.set(place, name);
    for (const wanted of Object.keys(lock.packages[place]?.dependencies ?? {}))
      next.push({ asking: place, name: wanted });
  }
  return found;
}

let bill: Bill;
beforeAll(() => {
  const file = join(scratch, "sbom.json");
  execFileSync(process.execPath, [join(root, "scripts/sbom.mjs"), file], { stdio: "pipe" });
  bill = jsonOf(file);
});

const isInside = ({ properties }: Component) => properties.some(({ name }) => name === "portolan:bundled");

describe("the bill of materials", () => {
  it("is one of CycloneDX, for this version of the package", () => {
    expect(bill).toMatchObject({ bomFormat: "CycloneDX", specVersion: expect.stringMatching(/^1\.\d$/) });
    expect(bill.serialNumber).toMatch(/^urn:uuid:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    expect(Date.parse(bill.metadata.timestamp)).toBeGreaterThan(0);
    expect(bill.metadata.component).toMatchObject({
      name: manifest.name,
      version: manifest.version,
      purl: `pkg:npm/${manifest.name}@${manifest.version}`,
      licenses: [{ license: { id: manifest.license } }],
    });
  });

  it("has every package that an install brings, with version, hash and address", () => {
    const places = brought();
    expect(places.size).toBeGreaterThan(Object.keys(manifest.dependencies).length);
    for (const [place, name] of places) {
      const { version, integrity = "" } = lock.packages[place] ?? { version: "" };
      const content = Buffer.from(integrity.replace(/^sha512-/, ""), "base64").toString("hex");
      expect(bill.components).toContainEqual(
        expect.objectContaining({
          name,
          version,
          purl: `pkg:npm/${name.replace("@", "%40")}@${version}`,
          hashes: [{ alg: "SHA-512", content }],
        }),
      );
    }
  });

  it("has what lies inside the console, marked as that, and nothing else that is only for us", () => {
    const sources = globSync("lib/console/**/*.{ts,tsx}", { cwd: root }).map((file) =>
      readFileSync(join(root, file), "utf8"),
    );
    const imported = new Set(
      sources.flatMap((text) =>
        [...text.matchAll(/^(?:import|export) (?!type ).*?from "((?:@[^/"]+\/)?[^./"@][^/"]*)/gm)].map(
          ([, name]) => name,
        ),
      ),
    );
    expect([...imported]).toContain("preact");
    expect(new Set(bill.components.filter(isInside).map(({ name }) => name))).toEqual(imported);
    const known = new Set([...brought().values(), ...imported]);
    expect(bill.components.map(({ name }) => name).filter((name) => !known.has(name))).toEqual([]);
  });

  it("says of each what it needs, in names that it has", () => {
    const refs = new Set([bill.metadata.component, ...bill.components].map((component) => component["bom-ref"]));
    const named = bill.dependencies.flatMap(({ ref, dependsOn = [] }) => [ref, ...dependsOn]);
    expect(named.filter((ref) => !refs.has(ref))).toEqual([]);
    const ours = bill.dependencies.find(({ ref }) => ref === bill.metadata.component["bom-ref"])?.dependsOn ?? [];
    const direct = Object.entries(manifest.dependencies).map(([name, version]) => `${name}@${version}`);
    expect(ours).toEqual(expect.arrayContaining(direct));
  });
});
