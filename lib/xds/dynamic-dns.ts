/**
 * Hosts that no service names, resolved by the proxy as they are asked for (`ALLOW_ANY_DYNAMIC_DNS`): one cache of names, which the cluster and
 * the filters of all outbound connection managers share by its name.
 * @see docs/how-istio-does-it/clusters.md#dynamic-dns
 */
import type { ClusterJson } from "../../gen/envoy/config/cluster/v3/cluster_pb.ts";
import type { DnsCacheConfigJson } from "../../gen/envoy/extensions/common/dynamic_forward_proxy/v3/dns_cache_pb.ts";
import type { HttpFilterJson } from "../../gen/envoy/extensions/filters/network/http_connection_manager/v3/http_connection_manager_pb.ts";
import type { ClassProxy, DynamicDns } from "../mesh/views/views.ts";
import type { ClusterClass } from "./clusters/cluster-class.ts";
import { circuitBreakers, connectionOptions } from "./clusters/connection-pool.ts";
import { followDownstream, httpExtension } from "./clusters/http-options.ts";
import { packAny } from "./core-messages.ts";
import { clusterExchange } from "./istio-proxy/metadata-filters.ts";
import { familyOfResolved, type Resolving } from "./lookup-family.ts";
import { altStatName, dynamicDnsCache, dynamicDnsCluster } from "./names.ts";
import { upstreamContext } from "./tls/upstream-context.ts";
import { upstreamTls } from "./tls/upstream-settings.ts";
import { automaticNames, type Sockets, tlsSockets } from "./tls/upstream-sockets.ts";

function dnsCache({ maxHosts, resolver }: DynamicDns, resolving: Resolving): DnsCacheConfigJson {
  return {
    name: dynamicDnsCache,
    dnsLookupFamily: familyOfResolved(resolving),
    maxHosts,
    ...(resolver === undefined
      ? {}
      : {
          typedDnsResolverConfig: {
            name: "envoy.network.dns_resolver.cares",
            typedConfig: packAny("envoy.extensions.network.dns_resolver.cares.v3.CaresDnsResolverConfig", {
              resolvers: [{ socketAddress: { address: resolver.address, portValue: resolver.port } }],
            }),
          },
        }),
  };
}

/** The filter of outbound connection managers; none where hosts are not resolved. */
export function dynamicDnsFilters(
  proxy: Pick<ClassProxy, "dynamicDns" | "ipMode">,
  mesh: Resolving["mesh"],
): readonly HttpFilterJson[] {
  const { dynamicDns } = proxy;
  if (dynamicDns === undefined) return none;
  const config = { dnsCacheConfig: dnsCache(dynamicDns, { mesh, proxy }) };
  return [
    {
      name: "envoy.filters.http.dynamic_forward_proxy",
      typedConfig: packAny("envoy.extensions.filters.http.dynamic_forward_proxy.v3.FilterConfig", config),
    },
  ];
}

const none: readonly HttpFilterJson[] = [];

/** The cluster that leads to the host of each request. */
export function resolvedHosts(dynamicDns: DynamicDns, proxies: ClusterClass): ClusterJson {
  const { mesh, build } = proxies;
  const { sockets, options, areNamesChecked } = connections(proxies);
  return {
    name: dynamicDnsCluster,
    altStatName: altStatName(dynamicDnsCluster),
    clusterType: {
      name: "envoy.clusters.dynamic_forward_proxy",
      typedConfig: packAny("envoy.extensions.clusters.dynamic_forward_proxy.v3.ClusterConfig", {
        dnsCacheConfig: dnsCache(dynamicDns, { mesh, proxy: proxies }),
        ...(areNamesChecked ? {} : { allowInsecureClusterOptions: true }),
      }),
    },
    connectTimeout: mesh.connectTimeout,
    lbPolicy: "CLUSTER_PROVIDED",
    circuitBreakers: circuitBreakers(undefined, undefined),
    ...connectionOptions(mesh, undefined),
    ...sockets,
    ...options,
    ...clusterExchange(build),
  };
}

/** How its connections are made: in plain text, or with the TLS that the mesh's policy states. */
function connections({ mesh, preserveHeaderCase, clientFiles }: ClusterClass): {
  readonly sockets: Sockets;
  readonly options: ReturnType<typeof httpExtension>;
  readonly areNamesChecked: boolean;
} {
  const { tls: stated } = mesh.outboundTrafficPolicy;
  const tls =
    stated && upstreamTls({ stated, meshExternal: true, accounts: [], sni: "", infersMtls: false, clientFiles });
  const context =
    tls &&
    upstreamContext({
      settings: tls.settings,
      defaultSni: "",
      http2: false,
      declaredNames: [],
      mayUseCredential: false,
      mayUseCaCredential: false,
      mesh,
    });
  if (tls === undefined || context === undefined) {
    const options = httpExtension({
      commonHttpProtocolOptions: { idleTimeout: "300s" },
      ...followDownstream(preserveHeaderCase),
    });
    return { sockets: {}, options, areNamesChecked: false };
  }
  const names = automaticNames(tls.settings, true);
  return {
    sockets: tlsSockets(context, false, false),
    options: httpExtension({
      ...(names === undefined ? {} : { upstreamHttpProtocolOptions: names }),
      explicitHttpConfig: { httpProtocolOptions: {} },
    }),
    areNamesChecked: names?.autoSni === true && names.autoSanValidation === true,
  };
}
