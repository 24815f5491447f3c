import type { ClusterJson } from "../../../gen/envoy/config/cluster/v3/cluster_pb.ts";
import type { ClassProxy } from "../../mesh/views/views.ts";
import { clusterExchange } from "../istio-proxy/metadata-filters.ts";
import { altStatName, blackHoleCluster, inboundPassthroughCluster, passthroughCluster } from "../names.ts";
import type { ClusterClass } from "./cluster-class.ts";
import { circuitBreakers, connectionOptions } from "./connection-pool.ts";
import { followDownstream, httpExtension } from "./http-options.ts";

/** The agent's interception rules let traffic from these addresses through, so that nothing is caught twice. */
const magicIPv4 = "127.0.0.6";
const magicIPv6 = "::6";

type BindConfig = NonNullable<ClusterJson["upstreamBindConfig"]>;

/** Source address towards the own workload; IPv4 where the proxy has both families. */
export function magicBind(ipMode: ClassProxy["ipMode"]): BindConfig {
  return { sourceAddress: { address: ipMode === "IPv6" ? magicIPv6 : magicIPv4, portValue: 0 } };
}

/** Envoy picks among both families by the address that it connects to. */
function magicBindOfEither(ipMode: ClassProxy["ipMode"]): BindConfig {
  if (ipMode !== "dual") return magicBind(ipMode);
  return {
    ...magicBind(ipMode),
    extraSourceAddresses: [{ address: { address: magicIPv6, portValue: 0 } }],
  };
}

/** Takes what must go nowhere. @see docs/how-istio-does-it/clusters.md#built-in-clusters */
export function blackHole(proxies: ClusterClass): ClusterJson {
  return {
    name: blackHoleCluster,
    altStatName: altStatName(blackHoleCluster),
    type: "STATIC",
    connectTimeout: proxies.mesh.connectTimeout,
  };
}

/** Leads outbound traffic that no service claims to where it was going. */
export function passthrough(proxies: ClusterClass): ClusterJson {
  return { ...toOriginalDestination(proxies), ...clusterExchange(proxies.build) };
}

function toOriginalDestination(proxies: ClusterClass): ClusterJson {
  const { mesh } = proxies;
  const pool = mesh.defaultTrafficPolicy?.connectionPool;
  return {
    name: passthroughCluster,
    altStatName: altStatName(passthroughCluster),
    type: "ORIGINAL_DST",
    connectTimeout: pool?.tcp?.connectTimeout ?? mesh.connectTimeout,
    lbPolicy: "CLUSTER_PROVIDED",
    circuitBreakers: circuitBreakers(pool, undefined),
    ...connectionOptions(mesh, pool?.tcp?.tcpKeepalive),
    ...httpExtension({
      commonHttpProtocolOptions: { idleTimeout: "300s" },
      ...followDownstream(proxies.preserveHeaderCase),
    }),
  };
}

/** Leads inbound traffic on ports of no service to the workload. It keeps the stat name of the outbound one, as in Istio. */
export function inboundPassthrough(proxies: ClusterClass): ClusterJson {
  return {
    ...toOriginalDestination(proxies),
    name: inboundPassthroughCluster,
    upstreamBindConfig: magicBindOfEither(proxies.ipMode),
  };
}
