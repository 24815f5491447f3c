import type { FilterJson } from "../../../../gen/envoy/config/listener/v3/listener_components_pb.ts";
import type { ListenerContext } from "../listener-context.ts";
import { inOrder } from "./in-order.ts";
import type { ChainPlace, SecurityFilters } from "./policy-filters.ts";

/** Of chains that nobody but the other end may judge. */
export const noSecurity = { custom: [], authorization: [] } as const;

/**
 * Everything in front of a TCP proxy, then the proxy itself. Outbound chains of sidecars have no authorisation: nobody
 * may forbid a workload what only the other end can judge.
 *
 * @see docs/how-istio-does-it/listeners.md#network-filters
 */
export function tcpChainFilters(
  { policies }: ListenerContext,
  place: ChainPlace,
  terminal: readonly FilterJson[],
  security: Pick<SecurityFilters<FilterJson>, "custom" | "authorization"> = place.class === "outbound"
    ? noSecurity
    : policies.tcp,
): FilterJson[] {
  return inOrder(
    security.custom,
    policies.networkExtensions("AUTHN", place),
    policies.networkExtensions("AUTHZ", place),
    security.authorization,
    policies.networkExtensions("STATS", place),
    policies.networkExtensions("UNSPECIFIED", place),
    terminal,
  );
}

/** Network filters in front of a connection manager: extensions only, policies stand inside it. */
export function httpChainFilters(
  { policies }: ListenerContext,
  place: ChainPlace,
  connectionManager: FilterJson,
): FilterJson[] {
  return inOrder(
    policies.networkExtensions("AUTHN", place),
    policies.networkExtensions("AUTHZ", place),
    policies.networkExtensions("STATS", place),
    policies.networkExtensions("UNSPECIFIED", place),
    [connectionManager],
  );
}
