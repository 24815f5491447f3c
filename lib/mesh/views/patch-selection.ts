import type { ApplyTo } from "../../config/kinds/envoy-filter.ts";
import { internList } from "../../incremental/keep-identity.ts";
import type { Memo } from "../../incremental/memo.ts";
import { query } from "../../incremental/query.ts";
import type { EnvoyFilterPatches, SelectedPatch } from "./views.ts";

/** The patches of a proxy that can touch each type of resource. */
export interface PatchSelection {
  readonly clusters: EnvoyFilterPatches;
  readonly listeners: EnvoyFilterPatches;
  readonly routes: EnvoyFilterPatches;
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

const none: EnvoyFilterPatches = { patches: [] };
const nowhere: PatchSelection = { clusters: none, listeners: none, routes: none };

/** @param patches those of a proxy, in the order in which they apply */
export function selectPatches(patches: readonly SelectedPatch[], memo: Memo): PatchSelection {
  if (patches.length === 0) return nowhere;
  return {
    clusters: ofTargets(patches, clusters, memo),
    listeners: ofTargets(patches, listeners, memo),
    routes: ofTargets(patches, routes, memo),
  };
}

function ofTargets(patches: readonly SelectedPatch[], targets: ReadonlySet<ApplyTo>, memo: Memo): EnvoyFilterPatches {
  const kept = patches.filter(({ patch }) => targets.has(patch.applyTo));
  if (kept.length === 0) return none;
  return envoyFilterPatches(memo, {
    patches: internList(
      memo,
      kept.map((selected) => selectedPatch(memo, selected)),
    ),
  });
}

const selectedPatch = query("selected patch", (selected: SelectedPatch) => selected);

const envoyFilterPatches = query("patches of a type", (of: EnvoyFilterPatches) => of);

/** Objects and positions in them. */
export function patchNames({ patches }: EnvoyFilterPatches): readonly string[] {
  return patches.map(({ filter, patch }) => {
    const { namespace, name } = filter.meta;
    return `${namespace}/${name}#${(filter.spec.configPatches ?? []).indexOf(patch)}`;
  });
}
