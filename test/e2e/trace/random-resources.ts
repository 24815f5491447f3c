import type { ClusterJson } from "../../../gen/envoy/config/cluster/v3/cluster_pb.ts";
import type {
  FilterChainJson,
  FilterChainMatchJson,
} from "../../../gen/envoy/config/listener/v3/listener_components_pb.ts";
import type { ListenerJson } from "../../../gen/envoy/config/listener/v3/listener_pb.ts";
import type {
  HeaderMatcherJson,
  RouteJson,
  RouteMatchJson,
  VirtualHostJson,
} from "../../../gen/envoy/config/route/v3/route_components_pb.ts";
import type { NodeResources } from "../../../lib/trace/node-resources.ts";

const type = (message: string) => ({ "@type": `type.googleapis.com/envoy.extensions.filters.${message}` });
const inspectors = [
  { name: "tls", typedConfig: type("listener.tls_inspector.v3.TlsInspector") },
  { name: "http", typedConfig: type("listener.http_inspector.v3.HttpInspector") },
];

/**
 * Listeners, tables and clusters out of a few words, so that much of it competes: nothing that the compiler would write, but all that Envoy
 * takes. The same for the same numbers.
 */
export function randomResources(random: () => number): NodeResources {
  const chance = (share: number) => random() < share;
  const pick = <T>(...list: readonly [T, ...T[]]): T => list[Math.floor(random() * list.length)] ?? list[0];
  const some = <T>(share: number, ...list: readonly T[]): readonly T[] => list.filter(() => chance(share));
  const clusterNames = ["one", "two", "three", "tcp"] as const;
  const cluster = () => pick(...clusterNames, "missing");

  const stringMatch = (): NonNullable<HeaderMatcherJson["stringMatch"]> => ({
    ...pick(
      { exact: "abc" },
      { prefix: "ab" },
      { suffix: "bc" },
      { contains: "b" },
      { safeRegex: { regex: "a.*c?" } },
      { exact: "ABC" },
    ),
    ...(chance(0.3) ? { ignoreCase: true } : {}),
  });
  const headerMatch = (): HeaderMatcherJson => ({
    name: pick("x-one", "X-Two", ":method", ":authority", ":scheme"),
    ...pick<HeaderMatcherJson>(
      { stringMatch: withoutCase(stringMatch()) },
      { presentMatch: chance(0.5) },
      { rangeMatch: { start: "1", end: "8" } },
      {},
    ),
    ...(chance(0.3) ? { invertMatch: true } : {}),
    ...(chance(0.3) ? { treatMissingHeaderAsEmpty: true } : {}),
  });
  const withoutCase = ({ safeRegex, ...rest }: NonNullable<HeaderMatcherJson["stringMatch"]>) =>
    safeRegex === undefined ? rest : { safeRegex };
  const match = (): RouteMatchJson => ({
    ...pick<RouteMatchJson>(
      { prefix: pick("/", "/a", "/a/", "/ab", "/A") },
      { path: pick("/", "/a", "/a/b", "/ab") },
      { safeRegex: { regex: pick("/a.*", "/[ab]+", ".*/b", "/a/?") } },
      { pathSeparatedPrefix: pick("/a", "/a/b") },
    ),
    ...(chance(0.3) ? { caseSensitive: false } : {}),
    ...(chance(0.4) ? { headers: Array.from({ length: pick(1, 1, 2) }, headerMatch) } : {}),
    ...(chance(0.3)
      ? {
          queryParameters: [
            {
              name: pick("q", "r"),
              ...pick({ stringMatch: withoutCase(stringMatch()) }, { presentMatch: chance(0.5) }),
            },
          ],
        }
      : {}),
    ...(chance(0.1) ? { grpc: {} } : {}),
    ...(chance(0.15)
      ? { runtimeFraction: { defaultValue: { numerator: pick(0, 50, 100), denominator: "HUNDRED" } } }
      : {}),
  });
  const redirect = (): NonNullable<RouteJson["redirect"]> => ({
    ...pick({}, { httpsRedirect: true }, { schemeRedirect: "https" }),
    ...pick({}, { hostRedirect: pick("other.test", "other.test:444") }),
    ...pick({}, { portRedirect: 8_443 }),
    ...pick({}, { pathRedirect: pick("/new", "/new?x=1") }, { prefixRewrite: "/p" }),
    ...(chance(0.3) ? { stripQuery: true } : {}),
    ...pick({}, { responseCode: pick("FOUND", "PERMANENT_REDIRECT") }),
  });
  const route = (): RouteJson => {
    const asked = match();
    const rewrite = asked.safeRegex === undefined ? pick({}, {}, { prefixRewrite: pick("/", "/z", "/z/") }) : {};
    const kind = random();
    if (kind < 0.1) return { match: asked, redirect: redirect() };
    if (kind < 0.2) return { match: asked, directResponse: { status: pick(204, 404, 503) } };
    if (kind < 0.3) return { match: asked, route: { clusterHeader: "x-cluster", ...rewrite } };
    if (kind < 0.5) {
      const clusters = clusterNames.map((name) => ({ name, weight: pick(0, 1, 3) }));
      return {
        match: asked,
        route: { weightedClusters: { clusters: [...clusters, { name: "one", weight: 1 }] }, ...rewrite },
      };
    }
    return {
      match: asked,
      route: { cluster: cluster(), ...rewrite, ...(chance(0.2) ? { clusterNotFoundResponseCode: "NOT_FOUND" } : {}) },
    };
  };
  const table = (name: string) => {
    const domains = some(
      0.6,
      "a.test",
      "b.a.test",
      "*.test",
      "*.a.test",
      "*-x.test",
      "a.*",
      "a.test:80",
      "*",
      "10.0.0.1",
    );
    const virtualHosts: VirtualHostJson[] = domains.map((domain, at) => ({
      name: `${name}-${at}`,
      domains: [domain],
      routes: Array.from({ length: pick(1, 3, 6) }, route),
      ...(chance(0.08) ? { requireTls: "ALL" } : {}),
    }));
    return {
      name,
      virtualHosts,
      ...(chance(0.3) ? { ignorePortInHostMatching: true } : {}),
      ...(chance(0.2) ? { ignorePathParametersInPathMatching: true } : {}),
    };
  };
  const manager = (at: number) => ({
    ...type("network.http_connection_manager.v3.HttpConnectionManager"),
    rds: { routeConfigName: `table-${at}` },
    httpFilters: [],
    ...(chance(0.6) ? { normalizePath: true } : {}),
    ...(chance(0.4) ? { mergeSlashes: true } : {}),
    ...(chance(0.5)
      ? {
          pathWithEscapedSlashesAction: pick(
            "KEEP_UNCHANGED",
            "REJECT_REQUEST",
            "UNESCAPE_AND_REDIRECT",
            "UNESCAPE_AND_FORWARD",
          ),
        }
      : {}),
    ...pick({}, { stripMatchingHostPort: true }, { stripAnyHostPort: true }),
    ...(chance(0.2) ? { stripTrailingHostDot: true } : {}),
    ...(chance(0.3) ? { useRemoteAddress: true } : {}),
  });
  const proxy = () => ({ ...type("network.tcp_proxy.v3.TcpProxy"), statPrefix: "tcp", cluster: pick(...clusterNames) });
  const range = (addressPrefix: string, prefixLen: number) => ({ addressPrefix, prefixLen });
  const chainMatch = (): FilterChainMatchJson => ({
    ...(chance(0.3) ? { destinationPort: pick(80, 90) } : {}),
    ...(chance(0.3)
      ? {
          prefixRanges: [pick(range("10.0.0.0", 8), range("10.0.0.1", 32), range("10.0.0.7", 24))],
        }
      : {}),
    ...(chance(0.3) ? { serverNames: [pick("a.test", "*.test", "*.a.test", "b.a.test")] } : {}),
    ...(chance(0.3) ? { transportProtocol: pick("tls", "raw_buffer") } : {}),
    ...(chance(0.3) ? { applicationProtocols: [pick("http/1.1", "istio", "h2")] } : {}),
    ...(chance(0.15) ? { sourceType: pick("SAME_IP_OR_LOOPBACK", "EXTERNAL") } : {}),
    ...(chance(0.15) ? { sourcePrefixRanges: [pick(range("240.0.0.0", 4), range("10.0.0.0", 8))] } : {}),
  });
  const chain = (filterChainMatch: FilterChainMatchJson, tables: number): FilterChainJson => {
    const isTls = filterChainMatch.transportProtocol === "tls" && chance(0.6);
    const at = Math.floor(random() * tables);
    const filter = chance(0.7) ? { name: "http", typedConfig: manager(at) } : { name: "tcp", typedConfig: proxy() };
    const tls = {
      name: "tls",
      typedConfig: { "@type": "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext" },
    };
    return { filterChainMatch, filters: [filter], ...(isTls ? { transportSocket: tls } : {}) };
  };
  const listener = (name: string, address: string, portValue: number, more: ListenerJson): ListenerJson => {
    const matches = new Map(Array.from({ length: pick(1, 4, 8) }, chainMatch).map((one) => [JSON.stringify(one), one]));
    return {
      name,
      address: { socketAddress: { address, portValue } },
      listenerFilters: inspectors.filter(() => chance(0.8)),
      filterChains: [...matches.values()].map((one) => chain(one, 3)),
      ...(chance(0.6) ? { defaultFilterChain: chain({}, 3) } : {}),
      ...more,
    };
  };
  const outbound = { trafficDirection: "OUTBOUND" } as const;
  const listeners = [
    listener("virtualOutbound", "0.0.0.0", 15_001, { ...outbound, useOriginalDst: true }),
    listener("virtualInbound", "0.0.0.0", 15_006, { trafficDirection: "INBOUND" }),
    ...[
      ["10.0.0.1", 80],
      ["10.0.0.1", 90],
      ["0.0.0.0", 80],
      ["10.0.0.2", 80],
      ["::", 90],
    ].flatMap(([address, port]) =>
      chance(0.7)
        ? [listener(`${address}_${port}`, String(address), Number(port), { ...outbound, bindToPort: false })]
        : [],
    ),
  ].map((one) => withRestored(one));
  const clusters = clusterNames.map((name) => randomCluster(name));
  function randomCluster(name: (typeof clusterNames)[number]): ClusterJson {
    const endpoint = (at: number) =>
      ({
        endpoint: {
          address: {
            socketAddress: { address: `10.9.${clusterNames.indexOf(name)}.${at}`, portValue: 1 },
          },
        },
        healthStatus: pick("HEALTHY", "HEALTHY", "UNHEALTHY", "DEGRADED", "DRAINING"),
        loadBalancingWeight: pick(1, 1, 5),
      }) as const;
    const endpoints = Array.from({ length: pick(1, 2, 3) }, (_, priority) => ({
      priority,
      lbEndpoints: Array.from({ length: pick(1, 2, 4) }, (__, at) => endpoint(priority * 10 + at)),
    }));
    return {
      name,
      type: "EDS",
      lbPolicy: pick("ROUND_ROBIN", "LEAST_REQUEST", "RANDOM"),
      loadAssignment: { clusterName: name, endpoints },
      ...(chance(0.3) ? { commonLbConfig: { healthyPanicThreshold: { value: pick(0, 30) } } } : {}),
    };
  }
  return {
    listeners,
    routes: new Map([0, 1, 2].map((at) => [`table-${at}`, table(`table-${at}`)])),
    clusters: new Map(clusters.map((one) => [one.name ?? "", one])),
    endpoints: new Map(),
  };
}

/** Connections that come in are led to their listener, which knows where they were going. */
function withRestored(listener: ListenerJson): ListenerJson {
  if (listener.name !== "virtualInbound") return listener;
  const restored = { name: "original", typedConfig: type("listener.original_dst.v3.OriginalDst") };
  return { ...listener, listenerFilters: [restored, ...(listener.listenerFilters ?? [])] };
}
