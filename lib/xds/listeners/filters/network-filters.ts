import type { FilterJson } from "../../../../gen/envoy/config/listener/v3/listener_components_pb.ts";
import { networkExchange } from "../../istio-proxy/metadata-filters.ts";
import { type ListenerContext, telemetryOf } from "../listener-context.ts";
import { inOrder } from "./in-order.ts";
import type { ChainTarget, SecurityFilters } from "./policy-filters.ts";

/** Of chains that nobody but the other end may judge. */
export const noSecurity = { custom: [], authorization: [] } as const;

interface ChainOptions {
  /** In place of the workload's own. */
  readonly security?: Pick<SecurityFilters<FilterJson>, "custom" | "authorization">;
  /** Whether Istio's own proxies tell one another who they are: absent: where a sidecar is called. */
  readonly exchanges?: boolean;
}

/**
 * Everything in front of a TCP proxy, then the proxy itself. Outbound chains of sidecars have no authorisation: nobody
 * may forbid a workload what only the other end can judge.
 *
 * @see docs/how-istio-does-it/listeners.md#network-filters
 */
export function tcpChainFilters(
  context: ListenerContext,
  chainTarget: ChainTarget,
  terminal: readonly FilterJson[],
  { security, exchanges = chainTarget.class === "inbound" }: ChainOptions = {},
): FilterJson[] {
  const { policies, proxy } = context;
  const { custom, authorization } = security ?? (chainTarget.class === "outbound" ? noSecurity : policies.tcp);
  return inOrder(
    exchanges ? networkExchange(proxy) : [],
    custom,
    policies.networkExtensions("AUTHN", chainTarget),
    policies.networkExtensions("AUTHZ", chainTarget),
    authorization,
    policies.networkExtensions("STATS", chainTarget),
    policies.networkExtensions("UNSPECIFIED", chainTarget),
    telemetryOf(context, chainTarget.class).stats.tcp,
    terminal,
  );
}

/** Network filters in front of a connection manager: extensions only, policies stand inside it. */
export function httpChainFilters(
  { policies, proxy }: ListenerContext,
  chainTarget: ChainTarget,
  connectionManager: FilterJson,
): FilterJson[] {
  return inOrder(
    chainTarget.class === "inbound" ? networkExchange(proxy) : [],
    policies.networkExtensions("AUTHN", chainTarget),
    policies.networkExtensions("AUTHZ", chainTarget),
    policies.networkExtensions("STATS", chainTarget),
    policies.networkExtensions("UNSPECIFIED", chainTarget),
    [connectionManager],
  );
}
