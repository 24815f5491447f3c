import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { describe, expect, it } from "vitest";

const root = resolve(import.meta.dirname, "..");

/**
 * Files, and folders, of `lib/` that no deployable entry point leads to, each with its reason. Live sources are shards, which collectors
 * fill (issue 19): what follows an origin in memory is asked for by issues 5 and 6, and is for programs of one's own. Whatever else is not
 * reached is deleted, or an oracle of the tests, and then lies under `test/`.
 */
const unreached: Readonly<Record<string, string>> = {
  "lib/config-store/aggregate-store.ts": "issue 5: several stores as one",
  "lib/config-store/config-map.ts": "issue 5: part of the stores in memory",
  "lib/config-store/directory-store.ts": "issue 5: a store that follows a folder",
  "lib/config-store/event-handlers.ts": "issue 5: part of the stores in memory",
  "lib/config-store/istio-config-store.ts": "issue 5: `IstioConfigStore`",
  "lib/config-store/ledger-cache.ts": "issue 5: part of the stores in memory",
  "lib/config-store/memory-store.ts": "issue 5: a store in memory",
  "lib/config-store/snapshot-cache.ts": "issue 5: part of the stores in memory",
  "lib/registry/aggregate.ts": "issue 6: several registries as one",
  "lib/registry/change-sink.ts": "issue 6: endpoint-only changes told from full ones",
  "lib/registry/registry.ts": "issue 6: `ServiceDiscovery`, `Controller` and `Registry`",
};

const reasonOf = (file: string): string | undefined =>
  Object.keys(unreached).find((place) => file === place || (place.endsWith("/") && file.startsWith(place)));

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
