/** Network filters of a chain, and HTTP filters of the connection managers among them. */
import type { FilterChainJson, FilterJson } from "../../../gen/envoy/config/listener/v3/listener_components_pb.ts";
import type { ListenerJson } from "../../../gen/envoy/config/listener/v3/listener_pb.ts";
import type {
  HttpConnectionManagerJson,
  HttpFilterJson,
} from "../../../gen/envoy/extensions/filters/network/http_connection_manager/v3/http_connection_manager_pb.ts";
import type { Diagnostic } from "../../base/diagnostic.ts";
import {
  matchesChain,
  matchesHttpFilter,
  matchesNetworkFilter,
  namesHttpFilter,
  namesNetworkFilter,
} from "./match-listener.ts";
import { type Copies, mergeAny } from "./merge-message.ts";
import { type Patch, type Patches, unmergeable } from "./patch.ts";
import { patchList } from "./patch-list.ts";

export const connectionManager = "envoy.filters.network.http_connection_manager";

/** @param patches those that match the listener */
export function patchFilters(
  listener: ListenerJson,
  chain: FilterChainJson,
  patches: Patches,
  diagnostics: Diagnostic[],
): FilterChainJson {
  const network = patches.networkFilters.filter((patch) => matchesChain(listener, chain, patch));
  const http = patches.httpFilters.filter((patch) => matchesChain(listener, chain, patch));
  if (network.length + http.length === 0) return chain;
  let filters: readonly FilterJson[] = chain.filters ?? [];
  for (const patch of network) {
    const is = (filter: FilterJson): boolean => matchesNetworkFilter(filter.name, patch);
    filters = patchList(filters, patch, { given: namesNetworkFilter(patch), is });
  }
  const patched = filters.map((filter) => {
    const merged = mergeInto(filter, network, (own, patch) => matchesNetworkFilter(own.name, patch), diagnostics);
    return merged.name === connectionManager ? patchHttpFilters(merged, http, diagnostics) : merged;
  });
  if (patched.length > 0) return { ...chain, filters: patched };
  const { filters: _none, ...rest } = chain;
  return rest;
}

function patchHttpFilters(
  manager: FilterJson,
  patches: readonly Patch<HttpFilterJson>[],
  diagnostics: Diagnostic[],
): FilterJson {
  const applying = patches.filter((patch) => matchesNetworkFilter(manager.name, patch));
  if (applying.length === 0 || manager.typedConfig === undefined) return manager;
  // A filter of that name holds a connection manager; Any's type cannot say so.
  const config = manager.typedConfig as HttpConnectionManagerJson & { "@type": string };
  let filters: readonly HttpFilterJson[] = config.httpFilters ?? [];
  for (const patch of applying) {
    const is = (filter: HttpFilterJson): boolean => matchesHttpFilter(filter.name, patch);
    filters = patchList(filters, patch, { given: namesHttpFilter(patch), is });
  }
  const httpFilters = filters.map((filter) =>
    mergeInto(filter, applying, (own, patch) => matchesHttpFilter(own.name, patch), diagnostics),
  );
  const { httpFilters: _old, ...rest } = config;
  const typedConfig = httpFilters.length === 0 ? rest : { ...rest, httpFilters };
  return { ...manager, typedConfig };
}

/** What both sorts of filters have in common. */
interface ConfiguredFilter {
  name?: string;
  typedConfig?: { "@type"?: string };
}

function mergeInto<F extends ConfiguredFilter>(
  filter: F,
  patches: readonly Patch<F>[],
  matches: (filter: F, patch: Patch<F>) => boolean,
  diagnostics: Diagnostic[],
): F {
  const copies: Copies = new WeakSet();
  let merged = filter;
  for (const patch of patches) {
    if (patch.operation !== "MERGE" || !matches(merged, patch)) continue;
    merged = mergeConfigured(merged, patch, copies, diagnostics);
  }
  return merged;
}

/**
 * Merges inside the configuration, not of the message around it: a name in the patch renames, a patch without configuration
 * leaves it alone, and a filter without one is not touched.
 */
function mergeConfigured<F extends ConfiguredFilter>(
  filter: F,
  patch: Patch<F>,
  copies: Copies,
  diagnostics: Diagnostic[],
): F {
  if (filter.typedConfig === undefined) return filter;
  const renamed: F = patch.value.name ? { ...filter, name: patch.value.name } : filter;
  if (patch.value.typedConfig === undefined) return renamed;
  const typedConfig = mergeAny(filter.typedConfig, patch.value.typedConfig, copies);
  if (typedConfig !== undefined) return { ...renamed, typedConfig };
  diagnostics.push(unmergeable(patch, filter.name ?? "a filter"));
  return renamed;
}
