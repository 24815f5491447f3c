import type { ProxyConfig, ProxyTracing } from "../../config/kinds/mesh-proxy-config.ts";

/**
 * A proxy as the compiler sees it: identity from its node id, metadata from its bootstrap, and what the registry
 * knows of its workload laid over it (labels, locality, network).
 */
export interface Proxy {
  /** An Envoy beside a workload, one that is a gateway; `grpc`: a program that speaks xDS itself (`GENERATOR` of its metadata). */
  readonly type: "sidecar" | "router" | "grpc";
  /** `podName.namespace`. */
  readonly id: string;
  /** What it calls itself, if that is not in Istio's form; absent: it is. */
  readonly alias?: string;
  /** Stands for nodes that are like it, and is none that could be found by a name; absent: it is one. */
  readonly isWanted?: boolean;
  /** Somebody has written its name down, and no registry has it: it takes no name from a workload. Absent: a registry has it. */
  readonly isNamed?: boolean;
  /** All its addresses; the first is the one of the node id. Never empty. */
  readonly addresses: readonly string[];
  /** Namespace whose configuration applies to it. */
  readonly namespace: string;
  /** From the node id, `<namespace>.svc.cluster.local`. */
  readonly dnsDomain: string;
  readonly clusterId: string;
  readonly network: string;
  /** `region/zone/subzone`, "" when unknown. */
  readonly locality: string;
  readonly nodeName: string;
  /** Workload labels: the registry's over the static ones; the node's own where no registry knows it. */
  readonly labels: Readonly<Record<string, string>>;
  readonly serviceAccount: string;
  /** `node.cluster`, "" when absent. */
  readonly nodeCluster: string;
  readonly metadata: ProxyMetadata;
}

/** The metadata keys that change what is generated; `raw` holds all of them as sent. */
export interface ProxyMetadata {
  readonly interceptionMode: "REDIRECT" | "TPROXY" | "NONE";
  /** `ROUTER_MODE`; "" when absent. */
  readonly routerMode: string;
  readonly httpProxyPort: number;
  readonly http10: boolean;
  /** Duration in proto JSON, "" when absent. */
  readonly idleTimeout: string;
  readonly dnsCapture: boolean;
  readonly dnsAutoAllocate: boolean;
  readonly unprivilegedPod: boolean;
  readonly istioVersion: string;
  readonly meshId: string;
  /** Ports of the proxy's own that no listener may take; 0 when absent. */
  readonly statusPort: number;
  readonly prometheusPort: number;
  readonly inboundExactBalance: boolean;
  readonly outboundExactBalance: boolean;
  /** `REQUESTED_NETWORK_VIEW`; empty: all networks. */
  readonly networkView: readonly string[];
  /** `TLS_SERVER_*` and `TLS_CLIENT_*` that are set, by key. */
  readonly tlsServerFiles: Readonly<Record<string, string>>;
  readonly tlsClientFiles: Readonly<Record<string, string>>;
  /** Of `PROXY_CONFIG`; of a node that sends none the mesh's. */
  readonly proxyConfig: ServedSettings;
  /** All of the metadata as sent. */
  readonly raw: Readonly<Record<string, unknown>>;
}

/**
 * What generated resources may depend on of a ProxyConfig. All else (threads, images, the services that a bootstrap names) is
 * about how a proxy is started, so that it tells no two proxies apart. The classifier reads the same parts.
 */
export type ServedSettings = Pick<
  ProxyConfig,
  "connectionSettings" | "gatewayTopology" | "proxyHeaders" | "serviceCluster"
> & {
  readonly tracing?: Pick<ProxyTracing, "customTags" | "enableIstioTags" | "maxPathTagLength" | "sampling">;
};
