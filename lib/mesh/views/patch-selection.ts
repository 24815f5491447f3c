import type { ApplyTo } from "../../config/kinds/envoy-filter.ts";
import type { EnvoyFilterPatches, SelectedPatch } from "./views.ts";

/** The patches of a proxy that can touch one type of resource. */
export interface SelectedPatches {
  readonly selected: EnvoyFilterPatches;
  /** Names them by object and position. */
  readonly key: string;
  /** The objects that they stand in. */
  readonly from: readonly object[];
}

export interface PatchSelection {
  readonly clusters: SelectedPatches;
  readonly listeners: SelectedPatches;
  readonly routes: SelectedPatches;
}

const routeTargets: readonly ApplyTo[] = ["ROUTE_CONFIGURATION", "VIRTUAL_HOST", "HTTP_ROUTE"];

const clusters: ReadonlySet<ApplyTo> = new Set(["CLUSTER"]);
const routes: ReadonlySet<ApplyTo> = new Set(routeTargets);
const listeners: ReadonlySet<ApplyTo> = new Set([
  "LISTENER",
  "LISTENER_FILTER",
  "FILTER_CHAIN",
  "NETWORK_FILTER",
  "HTTP_FILTER",
  "EXTENSION_CONFIG",
  // Listeners hold the route tables of the inbound side.
  ...routeTargets,
]);

const none: SelectedPatches = { selected: { key: "", patches: [] }, key: "", from: [] };

/** @param patches those of a proxy, in the order in which they apply */
export function selectPatches(patches: readonly SelectedPatch[]): PatchSelection {
  return {
    clusters: ofTargets(patches, clusters),
    listeners: ofTargets(patches, listeners),
    routes: ofTargets(patches, routes),
  };
}

function ofTargets(patches: readonly SelectedPatch[], targets: ReadonlySet<ApplyTo>): SelectedPatches {
  const kept = patches.filter(({ patch }) => targets.has(patch.applyTo));
  if (kept.length === 0) return none;
  const key = kept.map(patchName).join(",");
  return { selected: { key, patches: kept }, key, from: [...new Set(kept.map(({ filter }) => filter))] };
}

function patchName({ filter, patch }: SelectedPatch): string {
  const { namespace, name } = filter.meta;
  return `${namespace}/${name}#${(filter.spec.configPatches ?? []).indexOf(patch)}`;
}
