import type { FilterChainJson, FilterJson } from "../../../gen/envoy/config/listener/v3/listener_components_pb.ts";
import type { ListenerJson } from "../../../gen/envoy/config/listener/v3/listener_pb.ts";
import type { HttpConnectionManagerJson } from "../../../gen/envoy/extensions/filters/network/http_connection_manager/v3/http_connection_manager_pb.ts";
import type { Diagnostic } from "../../base/diagnostic.ts";
import type { PatchContext } from "../../config/kinds/envoy-filter.ts";
import { patchRouteTable } from "./apply-route-patches.ts";
import type { Patches } from "./patch.ts";
import { connectionManager } from "./patch-filters.ts";

/** The route tables that the listeners of the inbound side carry; before any patch of the listener itself. */
export function patchInlineTables(
  listener: ListenerJson,
  context: PatchContext,
  patches: Patches,
  diagnostics: Diagnostic[],
): ListenerJson {
  const count = patches.routeConfigurations.length + patches.virtualHosts.length + patches.routes.length;
  if (context !== "SIDECAR_INBOUND" || count === 0) return listener;
  const inFilter = (filter: FilterJson): FilterJson => {
    if (filter.name !== connectionManager || filter.typedConfig === undefined) return filter;
    // A filter of that name holds a connection manager; Any's type cannot say so.
    const config = filter.typedConfig as HttpConnectionManagerJson & { "@type": string };
    if (config.routeConfig === undefined) return filter;
    const patched = patchRouteTable(config.routeConfig, { context, ports: new Map() }, patches);
    diagnostics.push(...patched.diagnostics);
    const { json } = patched.value;
    const typedConfig = { ...config, routeConfig: json };
    return json === config.routeConfig ? filter : { ...filter, typedConfig };
  };
  const inChain = (chain: FilterChainJson): FilterChainJson => {
    const filters = chain.filters?.map(inFilter);
    const same = filters === undefined || filters.every((filter, index) => filter === chain.filters?.[index]);
    return same ? chain : { ...chain, filters };
  };
  const chains = listener.filterChains?.map(inChain);
  const defaultFilterChain = listener.defaultFilterChain && inChain(listener.defaultFilterChain);
  const same =
    defaultFilterChain === listener.defaultFilterChain &&
    (chains === undefined || chains.every((chain, index) => chain === listener.filterChains?.[index]));
  if (same) return listener;
  return {
    ...listener,
    ...(chains === undefined ? {} : { filterChains: chains }),
    ...(defaultFilterChain === undefined ? {} : { defaultFilterChain }),
  };
}
