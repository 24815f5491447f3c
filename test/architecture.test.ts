import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { describe, expect, it } from "vitest";

const root = resolve(import.meta.dirname, "..");

/** Package of lib/ → packages that it may import besides itself and `base`, from the table in docs/architecture.md. */
const mayImport = new Map(
  [
    ...readFileSync(join(root, "docs/architecture.md"), "utf8").matchAll(/^\| `lib\/([\w-]+)\/` \|.*\| ([^|]+) \|$/gm),
  ].map(([, name = "", allowed = ""]) => [name, allowed === "-" ? [] : allowed.split(", ")]),
);

/** Library → packages that may import it. A package that is not listed may be imported by cli, functions and test only. */
const homes: Readonly<Record<string, readonly string[]>> = {
  hono: ["compile", "admission"],
  preact: ["console"],
  "@hono/node-server": ["front"],
  jose: ["front", "resolve"],
  "@aws-sdk/client-kms": ["secrets"],
  "@aws-sdk/client-s3": ["storage"],
  "@azure/identity": ["storage"],
  "@azure/storage-blob": ["storage"],
  "google-auth-library": ["storage"],
  zod: ["config", "injection", "registry", "front", "settings"],
  yaml: ["config"],
  "js-yaml": ["config"],
  chokidar: ["config"],
  re2js: ["config", "front"],
  "ipaddr.js": ["config", "registry", "resolve", "trace", "xds"],
  "@bufbuild/protobuf": ["xds", "snapshot", "front", "mcp", "streams", "descriptors", "agent"],
  "@connectrpc/connect": ["front", "mcp", "streams", "agent"],
  "@connectrpc/connect-node": ["front", "mcp"],
  "prom-client": ["front", "compile"],
  "dns-packet": ["agent"],
  "modern-tar": ["compile", "resolve"],
  "@opentelemetry/api": ["compile"],
  "@opentelemetry/exporter-trace-otlp-http": ["compile"],
  "@opentelemetry/resources": ["compile"],
  "@opentelemetry/sdk-trace": ["compile"],
  "@peculiar/x509": ["ca"],
  "reflect-metadata": ["ca"],
  gen: ["xds", "snapshot", "front", "agent", "mcp", "trace", "descriptors", "streams"],
};

/** Imported from outside `lib/` on purpose: the version, which has no other home. */
const outside = ["package.json"];

function filesUnder(folder: string): readonly string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => /\.tsx?$/.test(name))
    .map((name) => join(folder, name));
}

interface Import {
  readonly file: string;
  readonly specifier: string;
}

function importsOf(file: string): readonly Import[] {
  const text = readFileSync(join(root, file), "utf8");
  const pattern =
    /(?:^|\n)\s*(?:import|export)\s[^;]*?from\s+"([^"]+)"|(?:^|\n)\s*import\s+"([^"]+)"|\bimport\(\s*"([^"]+)"\s*\)/g;
  return [...text.matchAll(pattern)].map((match) => ({ file, specifier: match[1] ?? match[2] ?? match[3] ?? "" }));
}

const packageOf = (path: string): string | undefined => /^lib\/([^/]+)\//.exec(path)?.[1];

/** Why an import is wrong, or undefined. */
function complaint({ file, specifier }: Import): string | undefined {
  const packageName = packageOf(file);
  if (packageName === undefined || packageName === "cli") return undefined;
  const allowed = mayImport.get(packageName);
  if (allowed === undefined) return `${file}: room ${packageName} is not in the table`;
  if (specifier.startsWith("node:")) return undefined;
  if (!specifier.startsWith(".")) {
    const name = specifier.startsWith("@")
      ? specifier.split("/").slice(0, 2).join("/")
      : (specifier.split("/")[0] ?? "");
    return homes[name]?.includes(packageName) ? undefined : `${file}: ${name} has no home in ${packageName}`;
  }
  const target = relative(root, resolve(root, dirname(file), specifier));
  if (outside.includes(target)) return undefined;
  if (!/\.tsx?$/.test(specifier)) return `${file}: ${specifier} lacks its extension`;
  if (target.startsWith("gen/"))
    return homes.gen?.includes(packageName) ? undefined : `${file}: ${packageName} may not use gen/`;
  const other = packageOf(target);
  if (other === undefined) return `${file}: ${target} is in no room`;
  return other === packageName || other === "base" || allowed.includes(other)
    ? undefined
    : `${file}: ${packageName} may not import ${other}`;
}

/** Files that import one another in a circle, from the first back to it; undefined where no file does. */
function circle(imports: readonly Import[]): readonly string[] | undefined {
  const targets = Map.groupBy(
    imports.filter(({ specifier }) => specifier.startsWith(".")),
    ({ file }) => file,
  );
  const done = new Set<string>();
  const walk = (file: string, path: readonly string[]): readonly string[] | undefined => {
    const from = path.indexOf(file);
    if (from >= 0) return [...path.slice(from), file];
    if (done.has(file)) return undefined;
    for (const { specifier } of targets.get(file) ?? []) {
      const found = walk(relative(root, resolve(root, dirname(file), specifier)), [...path, file]);
      if (found !== undefined) return found;
    }
    done.add(file);
    return undefined;
  };
  for (const file of targets.keys()) {
    const found = walk(file, []);
    if (found !== undefined) return found;
  }
  return undefined;
}

describe("the import table", () => {
  const imports = filesUnder("lib").flatMap(importsOf);

  it("leads nowhere in a circle, within a package neither, and not for types alone", () => {
    expect(circle(imports)).toBeUndefined();
  });

  it("knows a circle when it sees one", () => {
    const files = ["lib/a/a.ts", "lib/a/b.ts", "lib/a/c.ts"];
    const ring = [
      { file: "lib/a/a.ts", specifier: "./b.ts" },
      { file: "lib/a/b.ts", specifier: "./c.ts" },
      { file: "lib/a/c.ts", specifier: "./a.ts" },
    ];
    expect(circle(ring)).toEqual([...files, "lib/a/a.ts"]);
    expect(circle(ring.slice(0, 2))).toBeUndefined();
  });

  it("finds the imports of every room that has code", () => {
    expect(imports.length).toBeGreaterThan(20);
  });

  it("has no wrong arrow", () => {
    expect(imports.map(complaint).filter((line) => line !== undefined)).toEqual([]);
  });

  it("knows a wrong arrow when it sees one", () => {
    expect(complaint({ file: "lib/front/app.ts", specifier: "../xds/names.ts" })).toContain("front may not import xds");
    expect(complaint({ file: "lib/mesh/mesh.ts", specifier: "zod" })).toContain("zod has no home in mesh");
    expect(complaint({ file: "lib/xds/a.ts", specifier: "./names" })).toContain("lacks its extension");
  });
});

describe("the tests", () => {
  it("reach what lies beside the repository through test/shared.ts, so that they know when it is not there", () => {
    const beside = /["'`](?:\.\.\/)+shared\//;
    const files = filesUnder("test").filter((file) => beside.test(readFileSync(join(root, file), "utf8")));
    expect(files).toEqual(["test/shared.ts"]);
  });
});
