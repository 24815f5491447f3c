import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { describe, expect, it } from "vitest";

const root = resolve(import.meta.dirname, "..");

/**
 * Files, and folders, of `lib/` that no deployable entry point leads to, each with its reason. What waits for the live sources
 * (issue 19) is planned; whatever else is not reached is deleted, or an oracle of the tests, and then lies under `test/`.
 */
const unreached: Readonly<Record<string, string>> = {
  "lib/config-store/aggregate-store.ts": "planned: several live sources as one",
  "lib/config-store/config-map.ts": "planned: part of the stores that follow a live source",
  "lib/config-store/directory-store.ts": "planned: `portolan collect dir`",
  "lib/config-store/event-handlers.ts": "planned: part of the stores that follow a live source",
  "lib/config-store/istio-config-store.ts": "planned: typed reads of a live store",
  "lib/config-store/ledger-cache.ts": "planned: part of the stores that follow a live source",
  "lib/config-store/memory-store.ts": "planned: what a live source's content is kept in",
  "lib/config-store/snapshot-cache.ts": "planned: part of the stores that follow a live source",
  "lib/registry/aggregate.ts": "planned: several live registries as one",
  "lib/registry/change-sink.ts": "planned: what a change of a live registry means",
  "lib/registry/registry.ts": "planned: a live registry",
};

const reasonOf = (file: string): string | undefined =>
  Object.keys(unreached).find((place) => file === place || (place.endsWith("/") && file.startsWith(place)));

function filesUnder(folder: string): readonly string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
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
    /(?:^|\n)(?:import|export)\s+(?:type\s+)?(\{[^}]*\}|\*[^"]*|)\s*(?:from\s+)?"(\.[^"]+)"|(?:const\s+(\{[^}]*\})\s*=\s*await\s+)?import\("(\.[^"]+)"\)/g;
  return [...textOf(file).matchAll(pattern)].map((match) => ({
    file: relative(root, resolve(root, dirname(file), match[2] ?? match[4] ?? "")),
    names: match[1]?.startsWith("*") ? ["*"] : ((match[1] ?? match[3] ?? "").match(/\w+(?= as |,|\s*\})/g) ?? []),
  }));
}

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
  const reached = reachedFrom(filesUnder("functions"));

  it("are reached from functions, or listed with the reason why not", () => {
    expect(reached.size).toBeGreaterThan(400);
    expect(files.filter((file) => !reached.has(file) && reasonOf(file) === undefined)).toEqual([]);
  });

  it("leave the list when something leads to them, or they are gone", () => {
    const needed = new Set(files.filter((file) => !reached.has(file)).map(reasonOf));
    expect(Object.keys(unreached).filter((place) => !needed.has(place))).toEqual([]);
  });

  it("export no function and no constant that nobody imports", () => {
    const importers = ["lib", "functions", "test", "infra"].flatMap(filesUnder);
    const imported = new Set(
      importers.flatMap(importsOf).flatMap(({ file, names }) => names.map((name) => `${file} ${name}`)),
    );
    const exported = files.flatMap((file) =>
      [...textOf(file).matchAll(/^export (?:async )?(?:function\*?|const|class) (\w+)/gm)].map(
        ([, name]) => `${file} ${name}`,
      ),
    );
    const isImported = (one: string): boolean => imported.has(one) || imported.has(one.replace(/ \w+$/, " *"));
    expect(exported.filter((one) => !isImported(one))).toEqual([]);
  });
});
