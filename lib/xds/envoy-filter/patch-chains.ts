import {
  type FilterChainJson,
  FilterChainSchema,
} from "../../../gen/envoy/config/listener/v3/listener_components_pb.ts";
import type { ListenerJson } from "../../../gen/envoy/config/listener/v3/listener_pb.ts";
import type { Diagnostic } from "../../base/diagnostic.ts";
import { matchesChain, matchesListener } from "./match-listener.ts";
import { type Copies, mergeAny, mergeMessage } from "./merge-message.ts";
import { type Patch, type Patches, unmergeable } from "./patch.ts";
import { patchFilters } from "./patch-filters.ts";

/** The chains of a listener and what is in them; the same object when no patch applies. Chains that never had filters are left out. */
export function patchChains(listener: ListenerJson, patches: Patches, diagnostics: Diagnostic[]): ListenerJson {
  const ofListener: Patches = {
    ...patches,
    filterChains: patches.filterChains.filter((patch) => matchesListener(listener, patch)),
    networkFilters: patches.networkFilters.filter((patch) => matchesListener(listener, patch)),
    httpFilters: patches.httpFilters.filter((patch) => matchesListener(listener, patch)),
  };
  const { filterChains, networkFilters, httpFilters } = ofListener;
  if (filterChains.length + networkFilters.length + httpFilters.length === 0) return listener;
  const patched = (chain: FilterChainJson): FilterChainJson | undefined =>
    chain.filters === undefined ? undefined : patchChain(listener, chain, ofListener, diagnostics);
  const { filterChains: oldChains = [], defaultFilterChain: oldDefault, ...rest } = listener;
  const chains = [
    ...oldChains.flatMap((chain) => patched(chain) ?? []),
    // A chain that was added without filters is none; one whose filters were all removed stays, and closes connections.
    ...filterChains
      .filter((patch) => patch.operation === "ADD" && patch.value.filters !== undefined)
      .map((patch) => patch.value),
  ];
  const defaultFilterChain = oldDefault && (oldDefault.filters === undefined ? oldDefault : patched(oldDefault));
  return {
    ...rest,
    ...(chains.length === 0 ? {} : { filterChains: chains }),
    ...(defaultFilterChain === undefined ? {} : { defaultFilterChain }),
  };
}

/** @returns undefined for a removed chain */
function patchChain(
  listener: ListenerJson,
  chain: FilterChainJson,
  patches: Patches,
  diagnostics: Diagnostic[],
): FilterChainJson | undefined {
  const copies: Copies = new WeakSet();
  let patched = chain;
  for (const patch of patches.filterChains) {
    if (!matchesChain(listener, patched, patch)) continue;
    if (patch.operation === "REMOVE") return undefined;
    if (patch.operation === "MERGE") patched = mergeChain(patched, patch, copies, diagnostics);
  }
  return patchFilters(listener, patched, patches, diagnostics);
}

/** A transport socket of the same name as the chain's speaks for the whole patch: the rest of it is not read. */
function mergeChain(
  chain: FilterChainJson,
  patch: Patch<FilterChainJson>,
  copies: Copies,
  diagnostics: Diagnostic[],
): FilterChainJson {
  const own = chain.transportSocket;
  const socket = patch.value.transportSocket;
  if (own === undefined || socket === undefined || own.name !== socket.name) {
    return mergeMessage(FilterChainSchema, chain, patch.value, patch.merge, copies);
  }
  if (own.typedConfig === undefined || socket.typedConfig === undefined) return chain;
  const typedConfig = mergeAny(own.typedConfig, socket.typedConfig, copies);
  if (typedConfig !== undefined) return { ...chain, transportSocket: { ...own, typedConfig } };
  diagnostics.push(unmergeable(patch, `the transport socket of chain ${chain.name ?? ""}`));
  return chain;
}
