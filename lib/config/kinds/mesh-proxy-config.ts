import type { ClientTLSSettings, TcpKeepalive } from "./destination-rule.ts";
import type { ProxyImage } from "./proxy-config.ts";
import type { CustomTag } from "./telemetry.ts";
import type { ReadinessProbe } from "./workload-group.ts";

/**
 * `mesh.v1alpha1.ProxyConfig`: defaults of the mesh under what ProxyConfig objects, annotations and nodes add.
 * @see https://istio.io/latest/docs/reference/config/istio.mesh.v1alpha1/#ProxyConfig
 */
export interface ProxyConfig {
  readonly configPath?: string;
  readonly binaryPath?: string;
  readonly serviceCluster?: string;
  readonly tracingServiceName?: "APP_LABEL_AND_NAMESPACE" | "CANONICAL_NAME_ONLY" | "CANONICAL_NAME_AND_NAMESPACE";
  readonly drainDuration?: string;
  readonly terminationDrainDuration?: string;
  readonly discoveryAddress?: string;
  readonly statsdUdpAddress?: string;
  readonly proxyAdminPort: number;
  readonly controlPlaneAuthPolicy?: "NONE" | "MUTUAL_TLS" | "INHERIT";
  readonly customConfigFile?: string;
  readonly statNameLength: number;
  /** Wrapper: 0 means all CPUs; absent: as many as the CPU limit says. */
  readonly concurrency?: number;
  readonly proxyBootstrapTemplatePath?: string;
  /** Absent: REDIRECT. */
  readonly interceptionMode?: "REDIRECT" | "TPROXY" | "NONE";
  readonly tracing?: ProxyTracing;
  readonly envoyAccessLogService?: RemoteService;
  readonly envoyMetricsService?: RemoteService;
  readonly proxyMetadata: Readonly<Record<string, string>>;
  readonly runtimeValues?: Readonly<Record<string, string>>;
  readonly statusPort: number;
  readonly extraStatTags?: readonly string[];
  readonly gatewayTopology?: Topology;
  readonly meshId?: string;
  readonly readinessProbe?: ReadinessProbe;
  readonly proxyStatsMatcher?: ProxyStatsMatcher;
  readonly holdApplicationUntilProxyStarts?: boolean;
  readonly caCertificatesPem?: readonly string[];
  readonly image?: ProxyImage;
  readonly privateKeyProvider?: PrivateKeyProvider;
  readonly proxyHeaders?: ProxyHeaders;
  readonly fileFlushInterval?: string;
  readonly fileFlushMinSizeKb?: number;
  readonly statsCompression?: boolean;
  readonly connectionSettings?: ConnectionSettings;
  /** Deprecated, without effect on generated resources. */
  readonly zipkinAddress?: string;
  readonly discoveryRefreshDelay?: string;
  readonly availabilityZone?: string;
  readonly envoyMetricsServiceAddress?: string;
}

/** One tracer at most. */
export interface ProxyTracing {
  readonly zipkin?: { readonly address?: string };
  readonly lightstep?: { readonly address?: string; readonly accessToken?: string };
  readonly datadog?: { readonly address?: string };
  readonly stackdriver?: {
    readonly debug?: boolean;
    readonly maxNumberOfAttributes?: number;
    readonly maxNumberOfAnnotations?: number;
    readonly maxNumberOfMessageEvents?: number;
  };
  readonly openCensusAgent?: { readonly address?: string; readonly context?: readonly string[] };
  readonly customTags?: Readonly<Record<string, Omit<CustomTag, "formatter">>>;
  readonly maxPathTagLength?: number;
  /** Percent; absent: 0, which reads as 1. */
  readonly sampling?: number;
  readonly tlsSettings?: ClientTLSSettings;
  /** Wrapper; absent: true. */
  readonly enableIstioTags?: boolean;
}

export interface RemoteService {
  readonly address?: string;
  readonly tlsSettings?: ClientTLSSettings;
  readonly tcpKeepalive?: TcpKeepalive;
}

export type ForwardClientCertDetails =
  | "UNDEFINED"
  | "SANITIZE"
  | "FORWARD_ONLY"
  | "APPEND_FORWARD"
  | "SANITIZE_SET"
  | "ALWAYS_FORWARD_ONLY";

export interface Topology {
  readonly numTrustedProxies?: number;
  /** Absent or UNDEFINED: SANITIZE_SET at gateways. */
  readonly forwardClientCertDetails?: ForwardClientCertDetails;
  /** Presence switches it on. */
  readonly proxyProtocol?: Readonly<Record<string, never>>;
}

export interface ProxyStatsMatcher {
  readonly inclusionPrefixes?: readonly string[];
  readonly inclusionSuffixes?: readonly string[];
  readonly inclusionRegexps?: readonly string[];
}

/** One of the two. */
export interface PrivateKeyProvider {
  readonly cryptomb?: { readonly pollDelay?: string; readonly fallback?: boolean };
  readonly qat?: { readonly pollDelay?: string; readonly fallback?: boolean };
}

/** Every boolean in here is a wrapper: false is not absent. */
export interface ProxyHeaders {
  readonly forwardedClientCert?: ForwardClientCertDetails;
  readonly setCurrentClientCertDetails?: {
    readonly subject?: boolean;
    readonly cert?: boolean;
    readonly chain?: boolean;
    readonly dns?: boolean;
    readonly uri?: boolean;
  };
  readonly requestId?: { readonly disabled?: boolean };
  readonly server?: { readonly disabled?: boolean; readonly value?: string };
  readonly attemptCount?: { readonly disabled?: boolean };
  readonly envoyDebugHeaders?: { readonly disabled?: boolean };
  readonly metadataExchangeHeaders?: { readonly mode?: "UNDEFINED" | "IN_MESH" };
  readonly preserveHttp1HeaderCase?: boolean;
  readonly xForwardedHost?: { readonly enabled?: boolean };
  readonly xForwardedPort?: { readonly enabled?: boolean };
}

/** Since Istio 1.31. 0 and false are not absent. */
export interface ConnectionSettings {
  /** EDGE fills what is absent, at gateways. */
  readonly profile?: "SIDECAR" | "EDGE";
  readonly listenerPerConnectionBufferLimitBytes?: number;
  readonly clusterPerConnectionBufferLimitBytes?: number;
  readonly httpIdleTimeout?: string;
  readonly httpMaxConnectionDuration?: string;
  readonly httpDrainTimeout?: string;
  readonly httpRequestTimeout?: string;
  readonly httpRequestHeadersTimeout?: string;
  readonly httpStreamIdleTimeout?: string;
  readonly httpMaxStreamDuration?: string;
  readonly httpMaxConcurrentStreams?: number;
  readonly http2InitialStreamWindowSize?: number;
  readonly http2InitialConnectionWindowSize?: number;
  readonly httpHeadersWithUnderscoresAction?:
    | "HEADERS_WITH_UNDERSCORES_UNSPECIFIED"
    | "HEADERS_WITH_UNDERSCORES_ALLOW"
    | "HEADERS_WITH_UNDERSCORES_REJECT_REQUEST"
    | "HEADERS_WITH_UNDERSCORES_DROP_HEADER";
  readonly httpMergeSlashes?: boolean;
  readonly httpPathWithEscapedSlashesAction?:
    | "PATH_WITH_ESCAPED_SLASHES_UNSPECIFIED"
    | "KEEP_UNCHANGED"
    | "REJECT_REQUEST"
    | "UNESCAPE_AND_REDIRECT"
    | "UNESCAPE_AND_FORWARD";
  readonly listenerConnectionLimit?: number;
  readonly globalDownstreamConnectionLimit?: number;
}
