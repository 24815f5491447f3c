import type { ClusterJson } from "../../../gen/envoy/config/cluster/v3/cluster_pb.ts";
import type { FilterChainJson, FilterJson } from "../../../gen/envoy/config/listener/v3/listener_components_pb.ts";
import type { ListenerJson } from "../../../gen/envoy/config/listener/v3/listener_pb.ts";
import type { RouteConfigurationJson } from "../../../gen/envoy/config/route/v3/route_pb.ts";
import type { HttpConnectionManagerJson } from "../../../gen/envoy/extensions/filters/network/http_connection_manager/v3/http_connection_manager_pb.ts";
import type { NodeResources } from "../../../lib/trace/node-resources.ts";

/** What a test's Envoy is given beside the resources. */
export interface Ground {
  readonly logFile: string;
  /** Ports by which connections come in to bound listeners, by name; the PROXY protocol says where they were going. */
  readonly ports: ReadonlyMap<string, number>;
  readonly certificate: { readonly chain: string; readonly key: string };
}

/** Without what is undefined. */
const present = <T extends object>(fields: T): { [K in keyof T]?: NonNullable<T[K]> } =>
  Object.assign(
    {},
    ...Object.entries(fields).flatMap(([key, value]) => (value === undefined ? [] : [{ [key]: value }])),
  );

const any = (message: string, settings: object = {}) => ({
  "@type": `type.googleapis.com/envoy.${message}`,
  ...settings,
});

/**
 * The same resources for a real Envoy that nobody leads connections to: where a connection was going is said by the PROXY protocol, every
 * endpoint is a loopback address, and logs tell what took each request.
 *
 * @returns listeners and clusters of a bootstrap
 */
export function instrumented(resources: NodeResources, ground: Ground) {
  return {
    listeners: resources.listeners.map((listener) => instrumentedListener(listener, resources, ground)),
    clusters: [...resources.clusters.values()].map(instrumentedCluster),
  };
}

/** Keeps of a cluster what says where requests go. Endpoints are inlined already; nothing goes out of this machine. */
function instrumentedCluster(cluster: ClusterJson): ClusterJson {
  if (cluster.type === "ORIGINAL_DST") return { name: cluster.name ?? "", type: "STATIC" };
  const { name, type, lbPolicy, loadAssignment, commonLbConfig, dnsLookupFamily } = cluster;
  const kept = { name, type, lbPolicy, loadAssignment, commonLbConfig, dnsLookupFamily, connectTimeout: "0.3s" };
  return present(kept);
}

function instrumentedListener(listener: ListenerJson, resources: NodeResources, ground: Ground): ListenerJson {
  const { address, listenerFilters = [], filterChains = [], defaultFilterChain, ...rest } = listener;
  const portValue = ground.ports.get(listener.name ?? "");
  const isEntry = portValue !== undefined;
  const proxied = {
    name: "proxy_protocol",
    typedConfig: any("extensions.filters.listener.proxy_protocol.v3.ProxyProtocol"),
  };
  const inspectors = listenerFilters.filter(
    ({ typedConfig }) => typedConfig?.["@type"]?.includes("inspector") === true,
  );
  const chain = (one: FilterChainJson, name: string) => instrumentedChain(one, name, resources, ground);
  return {
    ...Object.fromEntries(Object.entries(rest).filter(([key]) => kept.has(key))),
    address: isEntry ? { socketAddress: { address: "127.0.0.1", portValue } } : (address ?? {}),
    listenerFilters: isEntry ? [proxied, ...inspectors] : inspectors,
    filterChains: filterChains.map((one, at) => chain(one, String(at))),
    ...(defaultFilterChain === undefined ? {} : { defaultFilterChain: chain(defaultFilterChain, "default") }),
    accessLog: [logTo(ground, { from: remote, listener: listener.name ?? "", chain: "%FILTER_CHAIN_NAME%" })],
  };
}

const kept = new Set(["name", "useOriginalDst", "bindToPort", "trafficDirection", "filterChainMatcher"]);
const remote = "%DOWNSTREAM_DIRECT_REMOTE_ADDRESS%";

const logTo = ({ logFile }: Ground, jsonFormat: object) => ({
  name: "file",
  typedConfig: any("extensions.access_loggers.file.v3.FileAccessLog", { path: logFile, logFormat: { jsonFormat } }),
});

function instrumentedChain(
  chain: FilterChainJson,
  name: string,
  resources: NodeResources,
  ground: Ground,
): FilterChainJson {
  const isTls = chain.transportSocket?.typedConfig?.["@type"]?.includes("transport_sockets.tls") === true;
  const { certificate } = ground;
  const transportSocket = {
    name: "tls",
    typedConfig: any("extensions.transport_sockets.tls.v3.DownstreamTlsContext", {
      commonTlsContext: {
        tlsCertificates: [
          { certificateChain: { filename: certificate.chain }, privateKey: { filename: certificate.key } },
        ],
      },
    }),
  };
  const went = { from: remote, cluster: "%UPSTREAM_CLUSTER%", host: "%UPSTREAM_HOST%" };
  const filters = (chain.filters ?? []).flatMap(({ name: filter = "", typedConfig }): readonly FilterJson[] => {
    const type = typedConfig?.["@type"] ?? "";
    if (type.includes("http_connection_manager")) {
      const manager = instrumentedManager(Object(typedConfig), went, resources, ground);
      return [{ name: filter, typedConfig: { "@type": type, ...manager } }];
    }
    if (!type.includes("tcp_proxy")) return [];
    const logged = { ...typedConfig, accessLog: [logTo(ground, { ...went, status: "tcp" })] };
    return [{ name: filter, typedConfig: logged }];
  });
  return {
    name,
    ...(chain.filterChainMatch === undefined ? {} : { filterChainMatch: chain.filterChainMatch }),
    ...(isTls ? { transportSocket } : {}),
    filters,
  };
}

function instrumentedManager(
  manager: HttpConnectionManagerJson,
  went: object,
  resources: NodeResources,
  ground: Ground,
): HttpConnectionManagerJson {
  const { routeConfig, rds, statPrefix = "", normalizePath, mergeSlashes, pathWithEscapedSlashesAction } = manager;
  const { stripMatchingHostPort, stripAnyHostPort, stripTrailingHostDot, useRemoteAddress } = manager;
  const settings = {
    normalizePath,
    mergeSlashes,
    pathWithEscapedSlashesAction,
    stripMatchingHostPort,
    stripAnyHostPort,
  };
  const table = routeConfig ?? resources.routes.get(rds?.routeConfigName ?? "");
  const routed = {
    at: "%METADATA(ROUTE:portolan.trace)%",
    status: "%RESPONSE_CODE%",
    location: "%RESP(LOCATION)%",
    path: "%REQ(:PATH)%",
    authority: "%REQ(:AUTHORITY)%",
  };
  return {
    statPrefix: statPrefix || "http",
    ...present({ ...settings, stripTrailingHostDot, useRemoteAddress }),
    routeConfig: table === undefined ? { name: "none" } : marked(table),
    httpFilters: [{ name: "router", typedConfig: any("extensions.filters.http.router.v3.Router") }],
    accessLog: [logTo(ground, { ...went, ...routed })],
  };
}

/** A table whose routes say in logs which they are. */
function marked(table: RouteConfigurationJson): RouteConfigurationJson {
  return {
    ...table,
    validateClusters: false,
    virtualHosts: (table.virtualHosts ?? []).map(({ typedPerFilterConfig, retryPolicy, cors, ...host }) => ({
      ...host,
      routes: (host.routes ?? []).map(({ typedPerFilterConfig: _, tracing, ...route }, at) => {
        const { cluster, clusterHeader, weightedClusters, clusterNotFoundResponseCode } = route.route ?? {};
        const { prefixRewrite, regexRewrite, hostRewriteLiteral } = route.route ?? {};
        const action = present({
          cluster,
          clusterHeader,
          weightedClusters,
          clusterNotFoundResponseCode,
          prefixRewrite,
          regexRewrite,
          hostRewriteLiteral,
        });
        return {
          ...route,
          ...(route.route === undefined ? {} : { route: action }),
          metadata: {
            filterMetadata: { "portolan.trace": { table: table.name ?? "", host: host.name ?? "", route: at } },
          },
        };
      }),
    })),
  };
}
