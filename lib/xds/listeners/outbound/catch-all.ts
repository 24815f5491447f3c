import type { FilterChainJson, FilterJson } from "../../../../gen/envoy/config/listener/v3/listener_components_pb.ts";
import { blackHoleCluster, passthroughCluster, passthroughFilterChain } from "../../names.ts";
import { destinationCluster, noServices } from "../../routes/actions/destination-cluster.ts";
import { catchAllFilters } from "../filters/tcp-proxy.ts";
import type { ListenerContext } from "../listener-context.ts";

/** Where outbound traffic goes that no service claims. @see docs/how-istio-does-it/listeners.md#virtualoutbound */
export function unclaimedFilters(context: ListenerContext): FilterJson[] {
  return catchAllFilters(context, catchAllCluster(context));
}

/** The default chain of an outbound listener in which no chain takes everything. */
export function passthroughChain(context: ListenerContext): FilterChainJson {
  return { name: passthroughFilterChain, filterChainMatch: {}, filters: unclaimedFilters(context) };
}

function catchAllCluster({ outboundTrafficPolicy }: ListenerContext): string {
  const { mode = "REGISTRY_ONLY", egressProxy } = outboundTrafficPolicy;
  if (mode === "REGISTRY_ONLY") return blackHoleCluster;
  if (egressProxy === undefined) return passthroughCluster;
  return destinationCluster(egressProxy, noServices);
}
