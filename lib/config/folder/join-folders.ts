import type { Diagnostic, Origin } from "../../base/diagnostic.ts";
import { defaultMeshConfig } from "../kinds/mesh-config.ts";
import { noMeshNetworks } from "../kinds/mesh-networks.ts";
import type { ResolvedFacts } from "../kinds/resolved-facts.ts";
import { noFolderSettings } from "../kinds/stated-endpoints.ts";
import type { LoadedDirectory } from "./directory.ts";
import { keyOf, type Placed } from "./folder-state.ts";
import { duplicateObject } from "./sort-objects.ts";

/**
 * What several folders say together; of two objects with one key the later one counts.
 *
 * @param primary whose settings count; undefined: it says nothing, and the defaults count
 * @param duplicatesOf what is reported of all objects that two folders share; undefined: each object is
 */
export function joinFolders(
  folders: readonly LoadedDirectory[],
  primary: LoadedDirectory | undefined,
  duplicatesOf: DuplicatesOf = () => undefined,
): LoadedDirectory {
  if (primary !== undefined && folders.length === 1 && folders[0] === primary) return primary;
  const configs = latestOf(folders.map((folder) => folder.configs));
  const objects = latestOf(folders.map((folder) => folder.objects));
  const clusters = Map.groupBy(
    folders.flatMap((folder) => folder.clusters),
    ({ id }) => id,
  );
  return {
    configs: configs.list,
    objects: objects.list,
    others: folders.flatMap(({ others }) => others),
    closed: folders.flatMap(({ closed }) => closed),
    clusters: [...clusters].map(([id, parts]) => ({ id, objects: parts.flatMap((part) => part.objects) })),
    meshConfig: primary?.meshConfig ?? defaultMeshConfig,
    meshNetworks: primary?.meshNetworks ?? noMeshNetworks,
    settings: joinedSettings(folders, primary),
    ...(primary?.unusableSettings === undefined ? {} : { unusableSettings: primary.unusableSettings }),
    diagnostics: [
      ...folders.flatMap(({ diagnostics }) => diagnostics),
      ...duplicates([...configs.twice, ...objects.twice], duplicatesOf),
    ],
  };
}

/** @param earlier, later indices of two folders @param shared what the later one says of the objects that both have */
export type DuplicatesOf = (earlier: number, later: number, shared: readonly Origin[]) => Diagnostic | undefined;

/** An object that two folders have. */
interface Twice {
  readonly earlier: { readonly folder: number; readonly origin: Origin };
  readonly later: { readonly folder: number; readonly origin: Origin };
}

function duplicates(twice: readonly Twice[], duplicatesOf: DuplicatesOf): readonly Diagnostic[] {
  const pairs = Map.groupBy(twice, ({ earlier, later }) => `${earlier.folder} ${later.folder}`);
  return [...pairs.values()].flatMap((pair) => {
    const [one] = pair;
    const shared = pair.map(({ later }) => later.origin);
    const joint = one && duplicatesOf(one.earlier.folder, one.later.folder, shared);
    return joint ?? pair.map(({ earlier, later }) => duplicateObject(earlier.origin, later.origin, "warning"));
  });
}

/** Those of the primary, with the proxies that any of them names and what was looked up. */
function joinedSettings(
  folders: readonly LoadedDirectory[],
  primary: LoadedDirectory | undefined,
): LoadedDirectory["settings"] {
  const proxies = folders.flatMap(({ settings }) => settings.proxies ?? []);
  const resolved = folders.flatMap(({ settings }) => settings.resolved ?? []);
  return {
    ...(primary?.settings ?? noFolderSettings),
    ...(proxies.length === 0 ? {} : { proxies }),
    ...(resolved.length === 0 ? {} : { resolved: joinedFacts(resolved) }),
  };
}

const joinedFacts = (facts: readonly ResolvedFacts[]): ResolvedFacts =>
  facts.length === 1 && facts[0] !== undefined
    ? facts[0]
    : {
        jwks: facts.flatMap(({ jwks = [] }) => jwks),
        addresses: facts.flatMap(({ addresses = [] }) => addresses),
        hosts: facts.flatMap(({ hosts = [] }) => hosts),
        modules: facts.flatMap(({ modules = [] }) => modules),
      };

/** The same, of lists that have each key once; what only one of them fills needs no look at its keys. */
function latestOf<T extends Placed>(
  lists: readonly (readonly T[])[],
): { readonly list: readonly T[]; readonly twice: readonly Twice[] } {
  const filled = lists.filter(({ length }) => length > 0);
  if (filled.length < 2) return { list: filled[0] ?? [], twice: [] };
  const byKey = new Map<string, { readonly object: T; readonly folder: number }>();
  const twice: Twice[] = [];
  for (const [folder, list] of lists.entries()) {
    for (const object of list) {
      const key = keyOf(object);
      const earlier = byKey.get(key);
      if (earlier !== undefined)
        twice.push({
          earlier: { folder: earlier.folder, origin: earlier.object.origin },
          later: { folder, origin: object.origin },
        });
      byKey.set(key, { object, folder });
    }
  }
  return { list: [...byKey.values()].map(({ object }) => object), twice };
}

/** One per key, the later one, at the place of the first. */
export function latest<T extends Placed>(
  list: readonly T[],
  areDistinct: boolean,
): { readonly list: readonly T[]; readonly diagnostics: readonly Diagnostic[] } {
  if (areDistinct) return { list, diagnostics: [] };
  const byKey = new Map<string, T>();
  const diagnostics: Diagnostic[] = [];
  for (const object of list) {
    const key = keyOf(object);
    const earlier = byKey.get(key);
    if (earlier !== undefined) diagnostics.push(duplicateObject(earlier.origin, object.origin));
    byKey.set(key, object);
  }
  return { list: [...byKey.values()], diagnostics };
}
