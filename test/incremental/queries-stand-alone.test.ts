import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, it } from "vitest";

const root = resolve(import.meta.dirname, "../../lib");
const packages = ["mesh", "xds", "compile"];

const files = packages.flatMap((packageName) =>
  readdirSync(join(root, packageName), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    .map((name) => ({ name: join(packageName, name), text: readFileSync(join(root, packageName, name), "utf8") })),
);

const calls = /(?<!\.)\b(?:query|trackedQuery|mappedList|column|runs)\((?=\s*")/g;
const atTopLevel =
  /^(?:export )?const \w+(?:: [^=\n]+)? =\s+(?:query|trackedQuery|mappedList|column|runs)\(\s*"([^"]+)"/gm;

/** Steps that stand inside something: what they close over would be missing from what they are remembered by. */
const inside = (text: string): number => [...text.matchAll(calls)].length - [...text.matchAll(atTopLevel)].length;

describe("queries", () => {
  it("stand at the top level of their modules, where there is nothing to close over", () => {
    expect(files.filter(({ text }) => inside(text) !== 0).map(({ name }) => name)).toEqual([]);
  });

  it("have a name each", () => {
    const names = files.flatMap(({ text }) => [...text.matchAll(atTopLevel)].map((match) => match[1]));
    expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([]);
  });

  it("find no variables beside them that could change", () => {
    expect(files.filter(({ text }) => /^(?:export )?let /m.test(text)).map(({ name }) => name)).toEqual([]);
  });

  it("are seen where they stand wrong", () => {
    expect(inside('function f(mesh) {\n  return query("a", () => mesh);\n}')).toBe(1);
    expect(inside('const a = query("a", () => 1);\nexport const b = trackedQuery(\n  "b", () => 1);')).toBe(0);
  });
});
