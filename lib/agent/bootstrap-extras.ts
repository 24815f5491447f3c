import type { BootstrapJson } from "../../gen/envoy/config/bootstrap/v3/bootstrap_pb.ts";
import type { ClusterJson } from "../../gen/envoy/config/cluster/v3/cluster_pb.ts";
import type { ListenerJson } from "../../gen/envoy/config/listener/v3/listener_pb.ts";

/** What a bootstrap has for those who watch the proxy. */
export interface BootstrapExtras {
  /** Port that says whether the proxy is ready, at `/healthz/ready`; 15021 with Istio. */
  readonly readinessPort?: number | undefined;
  /** Port that Prometheus reads, at `/stats/prometheus`; 15090 with Istio. */
  readonly prometheusPort?: number | undefined;
  /** Whether statistics are tagged as Istio's are. */
  readonly statsTags?: boolean | undefined;
}

const adminCluster = "prometheus_stats";

/** Listeners for probes and metrics, and the cluster that leads from them to the admin interface. */
export function extraResources(
  { readinessPort, prometheusPort }: BootstrapExtras,
  adminPort: number,
): { readonly listeners: readonly ListenerJson[]; readonly clusters: readonly ClusterJson[] } {
  const listeners = [
    ...(prometheusPort === undefined ? [] : [listener(prometheusPort, "/stats/prometheus", "/stats/prometheus")]),
    ...(readinessPort === undefined ? [] : [listener(readinessPort, "/healthz/ready", "/ready")]),
  ];
  const address = { socketAddress: { address: "127.0.0.1", portValue: adminPort } };
  const cluster: ClusterJson = {
    name: adminCluster,
    type: "STATIC",
    connectTimeout: "0.25s",
    loadAssignment: { clusterName: adminCluster, endpoints: [{ lbEndpoints: [{ endpoint: { address } }] }] },
  };
  return { listeners, clusters: listeners.length === 0 ? [] : [cluster] };
}

/** One path of the admin interface, and nothing else of it. */
function listener(portValue: number, path: string, prefixRewrite: string): ListenerJson {
  const routeConfig = {
    virtualHosts: [
      {
        name: "backend",
        domains: ["*"],
        routes: [{ match: { path }, route: { cluster: adminCluster, prefixRewrite } }],
      },
    ],
  };
  const typedConfig = {
    "@type": "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager",
    statPrefix: "agent",
    routeConfig,
    httpFilters: [
      {
        name: "envoy.filters.http.router",
        typedConfig: { "@type": "type.googleapis.com/envoy.extensions.filters.http.router.v3.Router" },
      },
    ],
  };
  return {
    name: `0.0.0.0_${portValue}`,
    address: { socketAddress: { address: "0.0.0.0", portValue } },
    ignoreGlobalConnLimit: true,
    filterChains: [{ filters: [{ name: "envoy.filters.network.http_connection_manager", typedConfig }] }],
  };
}

/**
 * Names of tags, and where they stand in the names of statistics. Generated names of clusters end with `;` in them, which is what
 * the first looks for.
 *
 * @see istio 1.30.3 tools/packaging/common/envoy_bootstrap.json
 */
const statsTags = [
  ["cluster_name", "^cluster(\\.(.+);)"],
  ["http_conn_manager_prefix", "^http\\.((.+);\\.)"],
  ["tcp_prefix", "^tcp\\.((.*?)\\.)\\w+?$"],
  ["response_code", "_rq(_(\\d{3}))$"],
  ["response_code_class", "_rq(_(\\dxx))$"],
  [
    "http_conn_manager_listener_prefix",
    "^listener(?=\\.).*?\\.http\\.(((?:[_.[:digit:]]*|[_\\[\\]aAbBcCdDeEfF[:digit:]]*))\\.)",
  ],
  ["listener_address", "^listener\\.(((?:[_.[:digit:]]*|[_\\[\\]aAbBcCdDeEfF[:digit:]]*))\\.)"],
] as const;

/** With tags as Istio has them; those that only extensions of Istio's Envoy have are left out. */
export const statsConfig: NonNullable<BootstrapJson["statsConfig"]> = {
  useAllDefaultTags: false,
  statsTags: statsTags.map(([tagName, regex]) => ({ tagName, regex })),
};
