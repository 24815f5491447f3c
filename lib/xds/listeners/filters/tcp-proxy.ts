import type { FilterJson } from "../../../../gen/envoy/config/listener/v3/listener_components_pb.ts";
import type { MongoProxyJson } from "../../../../gen/envoy/extensions/filters/network/mongo_proxy/v3/mongo_proxy_pb.ts";
import type { TcpProxyJson } from "../../../../gen/envoy/extensions/filters/network/tcp_proxy/v3/tcp_proxy_pb.ts";
import type { DestinationRule, TunnelSettings } from "../../../config/kinds/destination-rule.ts";
import type { Protocol } from "../../../registry/service.ts";
import { packAny } from "../../core-messages.ts";
import { networkExchange } from "../../istio-proxy/metadata-filters.ts";
import { blackHoleCluster } from "../../names.ts";
import { type ListenerContext, telemetryOf } from "../listener-context.ts";
import type { ListenerClass } from "./policy-filters.ts";

/** What a TCP proxy takes from the destination rule of the service that it leads to. */
export interface TcpPolicy {
  readonly rule: DestinationRule | undefined;
  /** "" for the whole service, and for weighted destinations. */
  readonly subset: string;
  /** False where a gateway only passes traffic through. */
  readonly tunnels: boolean;
}

/** Where a TCP proxy sends connections. */
export type TcpDestination =
  | { readonly kind: "cluster"; readonly cluster: string }
  | { readonly kind: "weighted"; readonly clusters: readonly { readonly name: string; readonly weight: number }[] };

/** A TCP proxy, and before it the filter that reads the protocol, where Istio has one. */
export function tcpProxyFilters(
  context: ListenerContext,
  listenerClass: ListenerClass,
  proxy: {
    readonly statPrefix: string;
    readonly destination: TcpDestination;
    readonly protocol: Protocol;
    readonly policy: TcpPolicy | undefined;
  },
): readonly FilterJson[] {
  const { statPrefix, destination, policy } = proxy;
  const config: TcpProxyJson = {
    statPrefix,
    ...(destination.kind === "cluster"
      ? { cluster: destination.cluster }
      : { weightedClusters: { clusters: destination.clusters.map(({ name, weight }) => ({ name, weight })) } }),
    ...timeouts(context, policy?.rule),
    ...(policy === undefined ? {} : policyFields(policy)),
    ...accessLogField(context, listenerClass),
  };
  const filter = tcpProxyFilter(config);
  return proxy.protocol === "Mongo" ? [mongoFilter(statPrefix), filter] : [filter];
}

/** Take whatever nobody else does: to where it was going, or nowhere. */
export function catchAllFilters(context: ListenerContext, cluster: string): FilterJson[] {
  const { idleTimeout } = context.options;
  const terminal = tcpProxyFilter({
    statPrefix: cluster,
    cluster,
    ...(idleTimeout === "" ? {} : { idleTimeout }),
    ...accessLogField(context, "outbound"),
  });
  return [...telemetryOf(context, "outbound").stats.tcp, terminal];
}

/** End connections to a virtual listener's own port, which would loop. Not logged. */
export function blackHoleFilters(context: ListenerContext, listenerClass: ListenerClass): FilterJson[] {
  const exchange = listenerClass === "inbound" ? networkExchange(context.proxy) : [];
  return [...exchange, ...telemetryOf(context, listenerClass).stats.tcp, blackHoleTcpProxy];
}

const blackHoleTcpProxy: FilterJson = tcpProxyFilter({
  statPrefix: blackHoleCluster,
  cluster: blackHoleCluster,
});

function tcpProxyFilter(config: TcpProxyJson): FilterJson {
  return {
    name: "envoy.filters.network.tcp_proxy",
    typedConfig: packAny("envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy", config),
  };
}

function mongoFilter(statPrefix: string): FilterJson {
  const config: MongoProxyJson = { statPrefix };
  return {
    name: "envoy.filters.network.mongo_proxy",
    typedConfig: packAny("envoy.extensions.filters.network.mongo_proxy.v3.MongoProxy", config),
  };
}

function accessLogField(context: ListenerContext, listenerClass: ListenerClass): TcpProxyJson {
  const { tcp } = telemetryOf(context, listenerClass).logs;
  return tcp.length === 0 ? {} : { accessLog: [...tcp] };
}

function timeouts(context: ListenerContext, rule: DestinationRule | undefined): TcpProxyJson {
  const pool = rule?.trafficPolicy?.connectionPool?.tcp;
  const idleTimeout = pool?.idleTimeout ?? context.options.idleTimeout;
  return {
    ...(idleTimeout === "" ? {} : { idleTimeout }),
    ...(pool?.maxConnectionDuration === undefined
      ? {}
      : { maxDownstreamConnectionDuration: pool.maxConnectionDuration }),
  };
}

function policyFields({ rule, subset, tunnels }: TcpPolicy): TcpProxyJson {
  const tunnel = tunnels ? tunnelOf(rule, subset) : undefined;
  return {
    ...(hashesBySourceIp(rule, subset) ? { hashPolicy: [{ sourceIp: {} }] } : {}),
    ...(tunnel === undefined
      ? {}
      : {
          tunnelingConfig: {
            hostname: `${tunnel.targetHost}:${tunnel.targetPort}`,
            ...(tunnel.protocol === "POST" ? { usePost: true } : {}),
          },
        }),
  };
}

/** A subset that has a load balancer decides alone. */
function hashesBySourceIp(rule: DestinationRule | undefined, subset: string): boolean {
  const ofSubset = rule?.subsets?.find(({ name }) => name === subset)?.trafficPolicy?.loadBalancer;
  const balancer = ofSubset ?? rule?.trafficPolicy?.loadBalancer;
  return balancer?.consistentHash?.useSourceIp === true;
}

function tunnelOf(rule: DestinationRule | undefined, subset: string): TunnelSettings | undefined {
  const ofSubset = rule?.subsets?.find(({ name }) => name === subset)?.trafficPolicy?.tunnel;
  return ofSubset ?? rule?.trafficPolicy?.tunnel;
}
