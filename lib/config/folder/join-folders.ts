import type { Diagnostic } from "../../base/diagnostic.ts";
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
 */
export function joinFolders(
  folders: readonly LoadedDirectory[],
  primary: LoadedDirectory | undefined,
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
    diagnostics: [...folders.flatMap(({ diagnostics }) => diagnostics), ...configs.diagnostics, ...objects.diagnostics],
  };
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
