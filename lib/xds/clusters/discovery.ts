import type { Cluster_CustomClusterTypeJson, ClusterJson } from "../../../gen/envoy/config/cluster/v3/cluster_pb.ts";
import { unreachable } from "../../base/diagnostic.ts";
import type { MeshConfig } from "../../config/kinds/mesh-config.ts";
import type { ClassProxy } from "../../mesh/views/views.ts";
import type { Protocol, Service } from "../../registry/service.ts";
import { overAds, packAny } from "../core-messages.ts";
import { familyOfResolved, type Resolving } from "../lookup-family.ts";
import { dynamicForwardProxyCacheName } from "../names.ts";
import type { SeenByProxy } from "./seen-by-proxy.ts";

/** How Envoy finds the endpoints of a cluster. `dynamic`: by the host of each request. */
export type Discovery = "EDS" | "STRICT_DNS" | "LOGICAL_DNS" | "ORIGINAL_DST" | "dynamic";

/**
 * @returns undefined for an alias: its routes lead to the cluster of the host it stands for
 * @see docs/how-istio-does-it/clusters.md#type
 */
export function discoveryOf(service: Service, proxy: Pick<SeenByProxy, "proxyType">): Discovery | undefined {
  switch (service.resolution) {
    case "ClientSideLB":
      return "EDS";
    case "DNSLB":
      // Envoy races the addresses of one logical host; of STRICT_DNS each address is a host of its own.
      return service.attributes.racesConnections === true ? "LOGICAL_DNS" : "STRICT_DNS";
    case "DNSRoundRobinLB":
      return "LOGICAL_DNS";
    case "Passthrough":
      // A gateway's clients connect to the gateway: there is no original destination to keep.
      return proxy.proxyType === "router" ? "EDS" : "ORIGINAL_DST";
    case "DynamicDNS":
      return service.hostname.startsWith("*") ? "dynamic" : "EDS";
    case "Alias":
      return undefined;
    default:
      return unreachable(service.resolution);
  }
}

/** Whether a name in the request says where to go: HTTP's authority or TLS's SNI. */
export function carriesHostName(protocol: Protocol): boolean {
  return protocol === "HTTP" || protocol === "HTTP2" || protocol === "GRPC" || protocol === "TLS";
}

/** Endpoints are asked for by the cluster's own name. */
export function edsFields(name: string): Pick<ClusterJson, "edsClusterConfig"> {
  return { edsClusterConfig: { serviceName: name, edsConfig: overAds } };
}

/** Both families stay with IPv4 as long as Istio's dual-stack switch is off; a race takes all addresses there are. */
function lookupFamily(ipMode: ClassProxy["ipMode"], service: Service | undefined): "ALL" | "V4_ONLY" | "V6_ONLY" {
  if (service?.attributes.racesConnections === true) return "ALL";
  return ipMode === "IPv6" ? "V6_ONLY" : "V4_ONLY";
}

/** How names are resolved: by c-ares, as the mesh says, again when the answer expires. */
export function dnsFields(
  mesh: MeshConfig,
  ipMode: ClassProxy["ipMode"],
  service?: Service,
): Pick<ClusterJson, "dnsLookupFamily" | "dnsRefreshRate" | "dnsJitter" | "respectDnsTtl" | "typedDnsResolverConfig"> {
  return {
    dnsLookupFamily: lookupFamily(ipMode, service),
    dnsRefreshRate: mesh.dnsRefreshRate,
    dnsJitter: "0.100s",
    respectDnsTtl: true,
    typedDnsResolverConfig: {
      name: "envoy.network.dns_resolver.cares",
      typedConfig: packAny("envoy.extensions.network.dns_resolver.cares.v3.CaresDnsResolverConfig", {
        udpMaxQueries: 100,
      }),
    },
  };
}

/**
 * A cluster that resolves the host of each request.
 *
 * @param unchecked Envoy refuses HTTP options here that do not check the upstream's name, unless told not to mind
 * @see docs/how-istio-does-it/clusters.md#dynamic-forward-proxy
 */
export function dynamicForwardProxy(
  host: string,
  unchecked: boolean,
  resolving: Resolving,
): Cluster_CustomClusterTypeJson {
  return {
    name: "envoy.clusters.dynamic_forward_proxy",
    typedConfig: packAny("envoy.extensions.clusters.dynamic_forward_proxy.v3.ClusterConfig", {
      dnsCacheConfig: { name: dynamicForwardProxyCacheName(host), dnsLookupFamily: familyOfResolved(resolving) },
      ...(unchecked ? { allowInsecureClusterOptions: true } : {}),
    }),
  };
}
