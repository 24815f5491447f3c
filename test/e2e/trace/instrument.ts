import type { AnyJson } from "@bufbuild/protobuf/wkt";
import type { ClusterJson } from "../../../gen/envoy/config/cluster/v3/cluster_pb.ts";
import type { FilterChainJson, FilterJson } from "../../../gen/envoy/config/listener/v3/listener_components_pb.ts";
import type { ListenerJson } from "../../../gen/envoy/config/listener/v3/listener_pb.ts";
import type { RouteConfigurationJson } from "../../../gen/envoy/config/route/v3/route_pb.ts";
import type {
  HttpConnectionManagerJson,
  HttpFilterJson,
} from "../../../gen/envoy/extensions/filters/network/http_connection_manager/v3/http_connection_manager_pb.ts";
import type { DownstreamTlsContextJson } from "../../../gen/envoy/extensions/transport_sockets/tls/v3/tls_pb.ts";
import type { NodeResources } from "../../../lib/trace/node-resources.ts";
import { isOfMessage } from "../../../lib/trace/typed-config.ts";
import type { Certificates } from "./identities.ts";

/** What a test's Envoy is given beside the resources. */
export interface Ground {
  readonly logFile: string;
  /** Ports by which connections come in to bound listeners, by name; the PROXY protocol says where they were going. */
  readonly ports: ReadonlyMap<string, number>;
  readonly certificates: Certificates;
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
  const { server, authority } = ground.certificates;
  const { requireClientCertificate }: DownstreamTlsContextJson = Object(chain.transportSocket?.typedConfig);
  const transportSocket = {
    name: "tls",
    typedConfig: any("extensions.transport_sockets.tls.v3.DownstreamTlsContext", {
      commonTlsContext: {
        tlsCertificates: [{ certificateChain: { filename: server.chain }, privateKey: { filename: server.key } }],
        validationContext: { trustedCa: { filename: authority } },
      },
      ...present({ requireClientCertificate }),
    }),
  };
  const went = { from: remote, cluster: "%UPSTREAM_CLUSTER%", host: "%UPSTREAM_HOST%" };
  const filters = (chain.filters ?? []).flatMap(({ name: filter = "", typedConfig }): readonly FilterJson[] => {
    const type = typedConfig?.["@type"] ?? "";
    if (type.includes("http_connection_manager")) {
      const manager = instrumentedManager(Object(typedConfig), went, resources, ground);
      return [{ name: filter, typedConfig: { "@type": type, ...manager } }];
    }
    if (isOfMessage(typedConfig, "envoy.extensions.filters.network.rbac.v3.RBAC"))
      return [{ name: filter, typedConfig: seenThroughProxy(typedConfig ?? {}) }];
    if (!type.includes("tcp_proxy")) return [];
    const logged = {
      ...typedConfig,
      accessLog: [logTo(ground, { ...went, status: "tcp", ended: "%CONNECTION_TERMINATION_DETAILS%" })],
    };
    return [{ name: filter, typedConfig: logged }];
  });
  return {
    name,
    ...(chain.filterChainMatch === undefined ? {} : { filterChainMatch: chain.filterChainMatch }),
    ...(isTls ? { transportSocket } : {}),
    filters,
  };
}

/** Where the PROXY protocol says who the client is, the address of the connection itself is another. */
const seenThroughProxy = <T extends object>(policies: T): T =>
  JSON.parse(JSON.stringify(policies).replaceAll('"directRemoteIp"', '"sourceIp"'));

/** Filters that a trace follows and that need nobody else. */
const followed = ["rbac.v3.RBAC", "jwt_authn.v3.JwtAuthentication", "fault.v3.HTTPFault", "cors.v3.Cors"];

function followedFilters({ httpFilters = [] }: HttpConnectionManagerJson): readonly HttpFilterJson[] {
  return httpFilters.flatMap((filter): readonly HttpFilterJson[] => {
    const { typedConfig } = filter;
    const isFollowed = followed.some((message) => isOfMessage(typedConfig, `envoy.extensions.filters.http.${message}`));
    return isFollowed && typedConfig !== undefined ? [{ ...filter, typedConfig: seenThroughProxy(typedConfig) }] : [];
  });
}

function instrumentedManager(
  manager: HttpConnectionManagerJson,
  went: object,
  resources: NodeResources,
  ground: Ground,
): HttpConnectionManagerJson {
  const { routeConfig, rds, statPrefix = "", normalizePath, mergeSlashes, pathWithEscapedSlashesAction } = manager;
  const { stripMatchingHostPort, stripAnyHostPort, stripTrailingHostDot, useRemoteAddress } = manager;
  const { xffNumTrustedHops, skipXffAppend } = manager;
  const filters = followedFilters(manager);
  const names = new Set(filters.map(({ name = "" }) => name));
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
    ...present({ ...settings, stripTrailingHostDot, useRemoteAddress, xffNumTrustedHops, skipXffAppend }),
    routeConfig: table === undefined ? { name: "none" } : marked(table, names),
    httpFilters: [...filters, { name: "router", typedConfig: any("extensions.filters.http.router.v3.Router") }],
    accessLog: [logTo(ground, { ...went, ...routed })],
  };
}

/** Settings that a table has for filters, of those that are there. */
function kindsOf<T extends Layered>({ typedPerFilterConfig = {}, ...rest }: T, names: ReadonlySet<string>) {
  const entries = Object.entries(typedPerFilterConfig).filter(([name]) => names.has(name));
  return {
    ...rest,
    ...(entries.length === 0 ? {} : { typedPerFilterConfig: seenThroughProxy(Object.fromEntries(entries)) }),
  };
}

interface Layered {
  readonly typedPerFilterConfig?: { readonly [name: string]: AnyJson };
}

/**
 * A table whose routes say in logs which they are.
 *
 * @param names of the filters that are kept
 */
function marked(table: RouteConfigurationJson, names: ReadonlySet<string>): RouteConfigurationJson {
  return {
    ...kindsOf(table, names),
    validateClusters: false,
    virtualHosts: (table.virtualHosts ?? []).map(({ retryPolicy, cors, ...host }) => ({
      ...kindsOf(host, names),
      routes: (host.routes ?? []).map(({ tracing, ...route }, at) => {
        const { cluster, clusterHeader, weightedClusters, clusterNotFoundResponseCode } = route.route ?? {};
        const { prefixRewrite, regexRewrite, hostRewriteLiteral } = route.route ?? {};
        const action = present({
          cluster,
          clusterHeader,
          weightedClusters: weightedClusters && {
            ...weightedClusters,
            clusters: (weightedClusters.clusters ?? []).map((one) => kindsOf(one, names)),
          },
          clusterNotFoundResponseCode,
          prefixRewrite,
          regexRewrite,
          hostRewriteLiteral,
        });
        return {
          ...kindsOf(route, names),
          ...(route.route === undefined ? {} : { route: action }),
          metadata: {
            filterMetadata: { "portolan.trace": { table: table.name ?? "", host: host.name ?? "", route: at } },
          },
        };
      }),
    })),
  };
}
