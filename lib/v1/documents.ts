/**
 * The answers of the REST v1 API, member for member in the order in which Istio 0.8 writes them.
 * Members that Istio leaves out when they are empty are optional here; `null` stands where the release writes it.
 * @see docs/how-istio-does-it/legacy-v1.md
 * @see https://www.envoyproxy.io/docs/envoy/v1.5.0/api-v1/api
 */

/** SDS. */
export interface SdsDocument {
  readonly hosts: readonly SdsHost[];
}

export interface SdsHost {
  readonly ip_address: string;
  readonly port: number;
  readonly tags?: { readonly az: string };
}

/** One entry of `/v1/registration`. */
export interface Registration {
  readonly "service-key": string;
  readonly hosts: readonly SdsHost[];
}

/** CDS. */
export interface CdsDocument {
  readonly clusters: readonly Cluster[];
}

export interface Cluster {
  readonly name: string;
  readonly service_name?: string;
  readonly connect_timeout_ms: number;
  readonly type: "static" | "strict_dns" | "logical_dns" | "sds" | "original_dst";
  readonly lb_type: "round_robin" | "least_request" | "random" | "original_dst_lb";
  readonly max_requests_per_connection?: number;
  readonly hosts?: readonly { readonly url: string }[];
  readonly ssl_context?: ClusterTls;
  readonly http2_settings?: { readonly max_concurrent_streams: number };
  /** Up to 0.7, in place of `http2_settings`. */
  readonly features?: string;
  readonly circuit_breakers?: { readonly default: CircuitBreakers };
  readonly outlier_detection?: OutlierDetection;
}

/** Empty towards servers outside the mesh. */
export interface ClusterTls {
  readonly cert_chain_file?: string;
  readonly private_key_file?: string;
  readonly ca_cert_file?: string;
  readonly verify_subject_alt_name?: readonly string[] | null;
  readonly sni?: string;
}

export interface CircuitBreakers {
  readonly max_connections?: number;
  readonly max_pending_requests?: number;
  readonly max_requests?: number;
  readonly max_retries?: number;
}

export interface OutlierDetection {
  readonly consecutive_5xx?: number;
  readonly interval_ms?: number;
  readonly base_ejection_time_ms?: number;
  readonly max_ejection_percent?: number;
}

/** RDS, and inside connection managers. */
export interface RouteConfig {
  readonly validate_clusters: boolean;
  readonly virtual_hosts: readonly VirtualHost[];
}

export interface VirtualHost {
  readonly name: string;
  readonly domains: readonly string[];
  readonly routes: readonly Route[];
}

export interface Route {
  readonly path?: string;
  readonly prefix?: string;
  readonly regex?: string;
  readonly prefix_rewrite?: string;
  readonly host_rewrite?: string;
  readonly path_redirect?: string;
  readonly host_redirect?: string;
  readonly cluster?: string;
  readonly weighted_clusters?: { readonly clusters: readonly WeightedCluster[] };
  readonly headers?: readonly HeaderMatch[];
  /** 0 switches Envoy's 15 s off. */
  readonly timeout_ms: number;
  readonly retry_policy?: RetryPolicy;
  readonly opaque_config?: Readonly<Record<string, string>>;
  readonly auto_host_rewrite?: boolean;
  readonly use_websocket?: boolean;
  readonly shadow?: { readonly cluster: string };
  readonly request_headers_to_add?: readonly { readonly key: string; readonly value: string }[];
  readonly cors?: Cors;
  readonly decorator?: { readonly operation: string };
}

export interface WeightedCluster {
  readonly name: string;
  readonly weight: number;
}

export interface HeaderMatch {
  readonly name: string;
  readonly value: string;
  readonly regex?: boolean;
}

export interface RetryPolicy {
  readonly retry_on: string;
  readonly num_retries?: number;
  readonly per_try_timeout_ms?: number;
}

export interface Cors {
  readonly enabled: boolean;
  readonly allow_credentials?: boolean;
  readonly allow_methods?: string;
  readonly allow_headers?: string;
  readonly expose_headers?: string;
  /** Seconds, as a text. */
  readonly max_age?: string;
  readonly allow_origin?: readonly string[];
}

/** LDS; `null` for proxies that have no listeners of this age. */
export interface LdsDocument {
  readonly listeners: readonly Listener[] | null;
}

export interface Listener {
  readonly address: string;
  readonly name: string;
  readonly filters: readonly NetworkFilter[];
  readonly ssl_context?: ListenerTls;
  readonly bind_to_port: boolean;
  readonly use_original_dst?: boolean;
}

export interface ListenerTls {
  readonly cert_chain_file: string;
  readonly private_key_file: string;
  readonly ca_cert_file?: string;
  readonly require_client_certificate: boolean;
  readonly alpn_protocols?: string;
}

/** Any filter; the configuration is the filter's own. */
export interface NetworkFilter {
  readonly type: "read" | "both";
  readonly name: string;
  readonly config: ConnectionManager | TcpProxy | MongoProxy | MixerFilter;
}

export interface ConnectionManager {
  readonly codec_type: "auto";
  readonly stat_prefix: string;
  readonly generate_request_id?: boolean;
  readonly use_remote_address?: boolean;
  readonly tracing?: { readonly operation_name: "ingress" | "egress" };
  readonly route_config?: RouteConfig;
  readonly rds?: { readonly cluster: string; readonly route_config_name: string; readonly refresh_delay_ms: number };
  readonly filters: readonly HttpFilter[];
  readonly access_log: readonly { readonly path: string }[] | null;
}

export interface HttpFilter {
  readonly type: "decoder" | "";
  readonly name: string;
  readonly config: object;
}

export interface TcpProxy {
  readonly stat_prefix: string;
  readonly route_config: { readonly routes: readonly TcpRoute[] };
}

export interface TcpRoute {
  readonly cluster: string;
  readonly destination_ip_list?: readonly string[];
}

export interface MongoProxy {
  readonly stat_prefix: string;
}

/** The Mixer filter's configuration, of HTTP and TCP. */
export interface MixerFilter {
  readonly mixer_attributes?: Readonly<Record<string, string>>;
  readonly v2: object;
}
