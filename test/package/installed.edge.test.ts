import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, chownSync, existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { lacks } from "../skip.ts";
import {
  type Installed,
  installByNpm,
  installByPnpm,
  node22,
  type Packed,
  pack,
  root,
  scratch,
  versionInManifest,
} from "./install.ts";

/** KiB: 10 % above what the tarball weighed when this was set. */
const maxTarballKib = 4_280;

/** The programs on a page, in TypeScript. */
const programsOf = (page: string): readonly string[] =>
  [...readFileSync(join(root, page), "utf8").matchAll(/^```ts\n(.*?)^```$/gms)].map(([, text = ""]) => text);

const programs = programsOf("docs/library.md");

let tarball: string;
let packed: Packed;
let installs: ReadonlyMap<string, Installed>;
const nodes = new Map<string, string>([[`Node ${process.versions.node.split(".")[0]}`, process.execPath]]);

beforeAll(async () => {
  ({ tarball, packed } = await pack());
  const [npm, pnpm, older] = await Promise.all([installByNpm(tarball), installByPnpm(tarball), node22()]);
  installs = new Map([
    ["npm", npm],
    ["pnpm", pnpm],
  ]);
  if (older === undefined) console.log("the package is not run under Node 22: the registry has none for this machine");
  else nodes.set("Node 22", older);
}, 900_000);

afterAll(() => rmSync(scratch, { recursive: true, force: true }));

const installed = (by: string): Installed => {
  const found = installs.get(by);
  if (found === undefined) throw new Error(`nothing was installed by ${by}`);
  return found;
};

const everywhere = async (check: (one: Installed, node: string) => Promise<void>) => {
  for (const one of installs.values()) for (const node of nodes.values()) await check(one, node);
};

describe("the tarball", () => {
  it("is small, and holds what runs, its types and the sample: no source, no test, nothing generated that nobody reads", () => {
    const kib = { tarball: Math.ceil(packed.size / 1024), unpacked: Math.ceil(packed.unpackedSize / 1024) };
    console.log(`package: ${kib.tarball} KiB, ${kib.unpacked} KiB unpacked, ${packed.files.length} files`);
    expect(kib.tarball).toBeLessThanOrEqual(maxTarballKib);
    const paths = packed.files.map(({ path }) => path);
    expect(paths).toEqual(
      expect.arrayContaining(["LICENSE", "README.md", "package.json", "samples/bookshop/catalog.yaml"]),
    );
    const known =
      /^(?:LICENSE|[A-Z]+\.md|package\.json|settings\.schema\.json|functions\/\w+\.mjs|samples\/bookshop\/[\w.]+|dist\/package\/(?:parts\/)?[\w.-]+\.js(?:\.map)?|dist\/package\/types\/(?:lib|functions)\/.+\.d\.ts)$/;
    expect(paths.filter((path) => !known.test(path))).toEqual([]);
  });

  it("names no package that only we need, and lets nothing run where it is installed", () => {
    const { scripts, dependencies, optionalDependencies } = JSON.parse(
      readFileSync(join(installed("npm").folder, "node_modules/portolan/package.json"), "utf8"),
    );
    expect(optionalDependencies).toBeUndefined();
    expect(Object.keys(scripts).filter((name) => /install|^prepare$/.test(name))).toEqual([]);
    const used = new Set(
      globSync("dist/package/**/*.js", { cwd: root }).flatMap((file) =>
        [
          ...readFileSync(join(root, file), "utf8").matchAll(
            /(?:from |import\(|import ?)"((?:@[^/"]+\/)?[^./"][^/":]*)/g,
          ),
        ].map(([, name]) => name),
      ),
    );
    expect(Object.keys(dependencies).filter((name) => !used.has(name))).toEqual([]);
  });
});

describe("what was installed", { timeout: 180_000 }, () => {
  it("says its version", async () => {
    await everywhere(async (one, node) => {
      expect((await one.ran(node, "portolan", "--version")).trim()).toBe(versionInManifest());
    });
  });

  it("compiles and publishes the sample that came with it", async () => {
    await everywhere(async (one, node) => {
      rmSync(join(one.folder, ".portolan"), { recursive: true, force: true });
      const told = JSON.parse(await one.ran(node, "portolan", "dev", "--once", "--json"));
      expect(told).toMatchObject({ event: "published", generation: 1 });
    });
  });

  it("compiles as this repository does, to the byte", async () => {
    const { ran, folder } = installed("npm");
    rmSync(join(folder, ".portolan"), { recursive: true, force: true });
    const { version } = JSON.parse(await ran(process.execPath, "portolan", "dev", "--once", "--json"));
    const ours = join(root, "functions/portolan.mjs");
    const store = join(scratch, "ours");
    const args = ["dev", join(root, "samples/bookshop"), "--store", store, "--once", "--json"];
    expect(JSON.parse(await ran(process.execPath, "node", ours, ...args)).version).toBe(version);
  });

  it("runs what docs/library.md shows", async () => {
    const said = ["published 1 200", '503 {"status":503,"detail":"nothing was published yet"}'];
    expect(programs).toHaveLength(said.length);
    await everywhere(async (one, node) => {
      for (const [at, text] of programs.entries()) {
        // They are JavaScript too, as they stand.
        writeFileSync(join(one.folder, "shown.js"), text);
        expect((await one.ran(node, "node", "shown.js")).trim()).toBe(said[at]);
      }
    });
  });

  it("refuses to listen where others can connect while nobody has said who may ask", async () => {
    const open = `import { createFront, listen, memoryStore } from "portolan";
      await listen(createFront({ store: memoryStore() }), 0, "0.0.0.0").catch((cause) => console.log(cause.name, cause.message));`;
    const { folder, ran } = installed("npm");
    writeFileSync(join(folder, "open.js"), open);
    expect(await ran(process.execPath, "node", "open.js")).toMatch(
      /^PortolanError 0\.0\.0\.0 is open to other machines/,
    );
  });

  it("says in its source's lines where an error comes from", async () => {
    await everywhere(async (one, node) => {
      const wrong = `import { openStore } from "portolan"; await openStore("ftp://x").catch((cause) => console.log(cause.stack));`;
      writeFileSync(join(one.folder, "wrong.js"), wrong);
      expect(await one.ran(node, "node", "--enable-source-maps", "wrong.js")).toMatch(
        /lib\/storage\/store-location\.ts:\d+/,
      );
    });
  });

  it("says which package a store of a cloud needs that is not installed", async () => {
    await everywhere(async (one, node) => {
      const opened = ["gs://mesh", "az://account/mesh"].map(
        (where) => `await openStore("${where}").catch((cause) => console.log(cause.name, cause.message));`,
      );
      writeFileSync(join(one.folder, "clouds.js"), `import { openStore } from "portolan";\n${opened.join("\n")}\n`);
      const said = await one.ran(node, "node", "clouds.js");
      expect(said).toMatch(/^PortolanError this store needs more npm packages: npm install google-auth-library,/);
      expect(said).toMatch(/^PortolanError this store needs more npm packages: npm install @azure\/storage-blob,/m);
    });
  });

  it.each(["NodeNext", "Preserve"])("has types that TypeScript checks whole, module %s", async (module) => {
    for (const one of installs.values()) {
      const files = programs.map((text, at) => ({ name: `shown-${at}.ts`, text }));
      for (const { name, text } of files) writeFileSync(join(one.folder, name), text);
      const compilerOptions = {
        module,
        target: "ES2024",
        lib: ["ES2024", "DOM"],
        types: [],
        strict: true,
        exactOptionalPropertyTypes: true,
        noUncheckedIndexedAccess: true,
        skipLibCheck: false,
        noEmit: true,
      };
      writeFileSync(
        join(one.folder, "tsconfig.json"),
        JSON.stringify({ compilerOptions, files: files.map(({ name }) => name) }),
      );
      await expect(one.ran(process.execPath, "node", join(root, "node_modules/typescript/bin/tsc"))).resolves.toBe("");
    }
  });

  it("serves the sample until it is told to stop", async () => {
    for (const node of nodes.values()) {
      const { folder } = installed("npm");
      const dev = spawn(join(folder, "node_modules/.bin/portolan"), ["dev", "--json", "--port", "0"], {
        cwd: folder,
        env: { ...process.env, PATH: [dirname(node), process.env.PATH].join(delimiter) },
        stdio: ["ignore", "pipe", "inherit"],
      });
      try {
        const answer = await fetch(`${await urlOf(dev)}/healthz`);
        expect(answer.status).toBe(200);
      } finally {
        dev.kill("SIGTERM");
      }
      expect(await once(dev, "exit")).toEqual([0, null]);
    }
  });
});

describe.skipIf(lacks(process.getuid?.() === 0, "root, to become another user"))(
  "what was installed, as in a container",
  () => {
    it("serves a settings file as nobody, from a folder that it may not write to", async () => {
      const { folder } = installed("npm");
      chmodSync(scratch, 0o755);
      const state = join(scratch, "state");
      mkdirSync(state);
      chownSync(state, 65_532, 65_532);
      const mesh = join(folder, "node_modules/portolan/samples/bookshop");
      const settings = `front: {port: 0, workers: 1}\ncompile: {}\ncollectors: [{kind: dir, folder: ${mesh}}]\n`;
      writeFileSync(join(folder, "portolan.yaml"), settings);
      const program = join(folder, "node_modules/portolan/functions/portolan.mjs");
      const args = [program, "serve", "--settings", join(folder, "portolan.yaml")];
      const serving = spawn(process.execPath, args, {
        cwd: state,
        uid: 65_532,
        gid: 65_532,
        env: { ...process.env, HOME: "/nonexistent" },
        stdio: ["ignore", "pipe", "inherit"],
      });
      try {
        const url = await urlOf(serving);
        await expect.poll(async () => (await fetch(`${url}/healthz`)).status, { timeout: 60_000 }).toBe(200);
      } finally {
        serving.kill("SIGTERM");
      }
      expect(await once(serving, "exit")).toEqual([0, null]);
    }, 120_000);
  },
);

async function urlOf({ stdout }: ChildProcess): Promise<string> {
  if (stdout === null) throw new Error("no pipe");
  for await (const line of createInterface(stdout)) {
    const { event, url, msg, urls } = JSON.parse(line);
    if (event === "serving") return url;
    if (msg === "serving") return urls[0];
  }
  throw new Error("it ended before it served");
}

describe("portolan/front", () => {
  /** Files that are loaded when a module is, by its own imports and theirs; and what they were made from. */
  function loadedFrom(entry: string): { readonly files: ReadonlySet<string>; readonly sources: readonly string[] } {
    const files = new Set([entry]);
    // What is added is walked too.
    for (const file of files) {
      const text = readFileSync(file, "utf8");
      for (const [, next = ""] of text.matchAll(/(?:from|import)\s*\(?"(\.{1,2}\/[^"]+)"/g))
        files.add(join(dirname(file), next));
    }
    const sources = [...files].flatMap(
      (file): readonly string[] => JSON.parse(readFileSync(`${file}.map`, "utf8")).sources,
    );
    return { files, sources: sources.map((source) => source.replace(/^(?:\.\.\/)*/, "")) };
  }
  const ofCompiler =
    /^lib\/(?:config\/(?!answer-text|cause-text|diagnostic|loopback|oidc-discovery|path-text|untyped)|incremental\/(?!list-delta|same-elements)|registry|mesh|xds|v1|compile|cli)/;

  it("loads no compiler, and the library does", () => {
    const folder = join(installed("npm").folder, "node_modules/portolan/dist/package");
    const front = loadedFrom(join(folder, "front.js"));
    expect(front.sources).toContain("lib/front/app.ts");
    expect(front.sources.filter((source) => ofCompiler.test(source))).toEqual([]);
    expect(loadedFrom(join(folder, "portolan.js")).sources).toContain("lib/mesh/build-mesh.ts");
    expect([...front.files].every((file) => existsSync(file))).toBe(true);
  });
});
