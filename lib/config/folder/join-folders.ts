import type { Diagnostic } from "../diagnostic.ts";
import { defaultMeshConfig } from "../kinds/mesh-config.ts";
import { noMeshNetworks } from "../kinds/mesh-networks.ts";
import { noFolderSettings } from "../kinds/stated-endpoints.ts";
import type { LoadedDirectory } from "./directory.ts";
import { keyOf, type Placed } from "./folder-state.ts";
import { duplicateObject } from "./sort-objects.ts";

/**
 * What several folders say together. The settings are those of the first; of two objects with one key the later one counts.
 */
export function joinFolders(folders: readonly LoadedDirectory[]): LoadedDirectory {
  const [first] = folders;
  if (first !== undefined && folders.length === 1) return first;
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
    meshConfig: first?.meshConfig ?? defaultMeshConfig,
    meshNetworks: first?.meshNetworks ?? noMeshNetworks,
    settings: joinedSettings(folders),
    ...(first?.unusableSettings === undefined ? {} : { unusableSettings: first.unusableSettings }),
    diagnostics: [...folders.flatMap(({ diagnostics }) => diagnostics), ...configs.diagnostics, ...objects.diagnostics],
  };
}

/** Those of the first, with the proxies that any of them names. */
function joinedSettings(folders: readonly LoadedDirectory[]): LoadedDirectory["settings"] {
  const [first, ...others] = folders.map(({ settings }) => settings);
  const proxies = [first, ...others].flatMap((settings) => settings?.proxies ?? []);
  return { ...(first ?? noFolderSettings), ...(proxies.length === 0 ? {} : { proxies }) };
}

/** The same, of lists that have each key once; what only one of them fills needs no look at its keys. */
function latestOf<T extends Placed>(lists: readonly (readonly T[])[]): ReturnType<typeof latest<T>> {
  const filled = lists.filter(({ length }) => length > 0);
  return latest(filled.length > 1 ? filled.flat() : (filled[0] ?? []), filled.length < 2, "warning");
}

/** One per key, the later one, at the place of the first. @param severity of one that is there twice */
export function latest<T extends Placed>(
  list: readonly T[],
  areDistinct: boolean,
  severity: "error" | "warning" = "error",
): { readonly list: readonly T[]; readonly diagnostics: readonly Diagnostic[] } {
  if (areDistinct) return { list, diagnostics: [] };
  const byKey = new Map<string, T>();
  const diagnostics: Diagnostic[] = [];
  for (const object of list) {
    const key = keyOf(object);
    const earlier = byKey.get(key);
    if (earlier !== undefined) diagnostics.push(duplicateObject(earlier.origin, object.origin, severity));
    byKey.set(key, object);
  }
  return { list: [...byKey.values()], diagnostics };
}
