import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { describe, expect, it } from "vitest";

const root = resolve(import.meta.dirname, "..");

function filesUnder(folder: string): readonly string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => /\.tsx?$/.test(name))
    .map((name) => join(folder, name))
    .sort();
}

const textOf = (file: string): string => readFileSync(join(root, file), "utf8");

interface Import {
  /** Of the file that is imported, from the repository's root. */
  readonly file: string;
  /** `*` for all. */
  readonly names: readonly string[];
}

/** Static imports, re-exports, and imports by a literal name. */
function importsOf(file: string): readonly Import[] {
  const pattern =
    /(?:^|\n)(?:import|export)\s+(?:type\s+)?(\{[^}]*\}|\*[^"]*|)\s*(?:from\s+)?"(\.[^"]+)"|(?:const\s+(\{[^}]*\})\s*=\s*await\s+)?import\("(\.[^"]+)"\)(?:\)\.(\w+))?/g;
  return [...textOf(file).matchAll(pattern)].map((match) => ({
    file: relative(root, resolve(root, dirname(file), match[2] ?? match[4] ?? "")),
    names: match[1]?.startsWith("*")
      ? ["*"]
      : ((match[1] ?? match[3] ?? `{${match[5] ?? ""}}`).match(/\w+(?= as |,|\s*\})/g) ?? []),
  }));
}

/** What scripts/console.mjs builds into the functions: the console, and the description of the API that it reads. */
const built = ["lib/console/main.tsx", "lib/console/follow.ts", "lib/front/api/schema/openapi.ts"];

/** What a browser loads by its address. */
const loaded = ["lib/console/follow.ts follow"];

/** Every file that some entry points lead to. */
function reachedFrom(entries: readonly string[]): ReadonlySet<string> {
  const reached = new Set<string>();
  const next = [...entries];
  for (let file = next.pop(); file !== undefined; file = next.pop()) {
    if (reached.has(file) || !file.startsWith("lib/") === !file.startsWith("functions/")) continue;
    reached.add(file);
    next.push(...importsOf(file).map((imported) => imported.file));
  }
  return reached;
}

describe("the files of lib", () => {
  const files = filesUnder("lib");
  const reached = reachedFrom([...filesUnder("functions"), ...built]);

  it("are reached from functions", () => {
    expect(reached.size).toBeGreaterThan(400);
    expect(files.filter((file) => !reached.has(file))).toEqual([]);
  });

  it("export no function and no constant that nobody imports", () => {
    const importers = ["lib", "functions", "test", "infra"].flatMap(filesUnder);
    const imported = new Set([
      ...[...importers, "scripts/console.mjs"]
        .flatMap(importsOf)
        .flatMap(({ file, names }) => names.map((name) => `${file} ${name}`)),
      ...loaded,
    ]);
    const exported = files.flatMap((file) =>
      [...textOf(file).matchAll(/^export (?:async )?(?:function\*?|const|class) (\w+)/gm)].map(
        ([, name]) => `${file} ${name}`,
      ),
    );
    const isImported = (one: string): boolean => imported.has(one) || imported.has(one.replace(/ \w+$/, " *"));
    expect(exported.filter((one) => !isImported(one))).toEqual([]);
  });
});
