/**
 * An entry of MeshConfig's `extensionProviders`: a name and exactly one kind.
 * @see https://istio.io/latest/docs/reference/config/istio.mesh.v1alpha1/#MeshConfig-ExtensionProvider
 */
export interface ExtensionProvider {
  readonly name: string;
  readonly envoyExtAuthzHttp?: EnvoyExternalAuthorizationHttpProvider;
  readonly envoyExtAuthzGrpc?: EnvoyExternalAuthorizationGrpcProvider;
  readonly zipkin?: ZipkinTracingProvider;
  readonly lightstep?: LightstepTracingProvider;
  readonly datadog?: DatadogTracingProvider;
  readonly stackdriver?: StackdriverProvider;
  readonly opencensus?: OpenCensusAgentTracingProvider;
  readonly skywalking?: SkyWalkingTracingProvider;
  readonly opentelemetry?: OpenTelemetryTracingProvider;
  readonly prometheus?: Readonly<Record<string, never>>;
  readonly envoyFileAccessLog?: EnvoyFileAccessLogProvider;
  readonly envoyHttpAls?: EnvoyHttpGrpcV3LogProvider;
  readonly envoyTcpAls?: EnvoyTcpGrpcV3LogProvider;
  readonly envoyOtelAls?: EnvoyOpenTelemetryLogProvider;
  readonly sds?: SDSProvider;
}

/** Where a provider runs: an FQDN, an address, or `namespace/host`. */
export interface ProviderService {
  readonly service: string;
  readonly port: number;
}

export interface EnvoyExternalAuthorizationRequestBody {
  readonly maxRequestBytes?: number;
  readonly allowPartialMessage?: boolean;
  readonly packAsBytes?: boolean;
}

export interface EnvoyExternalAuthorizationHttpProvider extends ProviderService {
  /** Absent: 600s. */
  readonly timeout?: string;
  readonly pathPrefix?: string;
  readonly failOpen?: boolean;
  readonly clearRouteCache?: boolean;
  /** HTTP status as text. */
  readonly statusOnError?: string;
  /** Deprecated spelling of `includeRequestHeadersInCheck`. */
  readonly includeHeadersInCheck?: readonly string[];
  readonly includeRequestHeadersInCheck?: readonly string[];
  readonly includeAdditionalHeadersInCheck?: Readonly<Record<string, string>>;
  readonly includeRequestBodyInCheck?: EnvoyExternalAuthorizationRequestBody;
  readonly headersToUpstreamOnAllow?: readonly string[];
  readonly headersToDownstreamOnDeny?: readonly string[];
  readonly headersToDownstreamOnAllow?: readonly string[];
}

export interface EnvoyExternalAuthorizationGrpcProvider extends ProviderService {
  /** Absent: 600s. */
  readonly timeout?: string;
  readonly failOpen?: boolean;
  readonly clearRouteCache?: boolean;
  readonly statusOnError?: string;
  readonly includeRequestBodyInCheck?: EnvoyExternalAuthorizationRequestBody;
}

export interface ZipkinTracingProvider extends ProviderService {
  readonly maxTagLength?: number;
  readonly enable64bitTraceId?: boolean;
  /** Absent: /api/v2/spans. */
  readonly path?: string;
  readonly traceContextOption?: "USE_B3" | "USE_B3_WITH_W3C_PROPAGATION";
  readonly timeout?: string;
  readonly headers?: readonly HttpHeader[];
}

export interface LightstepTracingProvider extends ProviderService {
  readonly accessToken?: string;
  readonly maxTagLength?: number;
}

export interface DatadogTracingProvider extends ProviderService {
  readonly maxTagLength?: number;
}

export interface SkyWalkingTracingProvider extends ProviderService {
  readonly accessToken?: string;
}

export interface StackdriverProvider {
  readonly debug?: boolean;
  readonly maxNumberOfAttributes?: number;
  readonly maxNumberOfAnnotations?: number;
  readonly maxNumberOfMessageEvents?: number;
  readonly maxTagLength?: number;
  readonly logging?: { readonly labels?: Readonly<Record<string, string>> };
}

export interface OpenCensusAgentTracingProvider extends ProviderService {
  readonly context?: readonly string[];
  readonly maxTagLength?: number;
}

export interface OpenTelemetryTracingProvider extends ProviderService {
  readonly maxTagLength?: number;
  /** At most one of `http` and `grpc`; neither: gRPC without options. */
  readonly http?: HttpService;
  readonly grpc?: GrpcService;
  readonly resourceDetectors?: ResourceDetectors;
  readonly serviceAttributeEnrichment?: "ISTIO_CANONICAL" | "OTEL_SEMANTIC_CONVENTIONS";
  readonly dynatraceSampler?: DynatraceSampler;
}

export interface DynatraceSampler {
  readonly tenant?: string;
  readonly clusterId?: number;
  readonly rootSpansPerMinute?: number;
  readonly httpService?: ProviderService & { readonly http?: HttpService };
}

export interface ResourceDetectors {
  readonly environment?: Readonly<Record<string, never>>;
  readonly dynatrace?: Readonly<Record<string, never>>;
}

export interface HttpService {
  readonly path?: string;
  readonly timeout?: string;
  readonly headers?: readonly HttpHeader[];
}

/** One of `value` and `envName`. */
export interface HttpHeader {
  readonly name: string;
  readonly value?: string;
  readonly envName?: string;
}

export interface GrpcService {
  readonly timeout?: string;
  readonly initialMetadata?: readonly HttpHeader[];
}

export interface EnvoyFileAccessLogProvider {
  readonly path?: string;
  readonly logFormat?: LogFormat;
  readonly omitEmptyValues?: boolean;
}

/** At most one; `labels` is JSON of any depth. */
export interface LogFormat {
  readonly text?: string;
  readonly labels?: Readonly<Record<string, unknown>>;
}

export interface EnvoyHttpGrpcV3LogProvider extends ProviderService {
  readonly logName?: string;
  readonly filterStateObjectsToLog?: readonly string[];
  readonly additionalRequestHeadersToLog?: readonly string[];
  readonly additionalResponseHeadersToLog?: readonly string[];
  readonly additionalResponseTrailersToLog?: readonly string[];
}

export interface EnvoyTcpGrpcV3LogProvider extends ProviderService {
  readonly logName?: string;
  readonly filterStateObjectsToLog?: readonly string[];
}

export interface EnvoyOpenTelemetryLogProvider extends ProviderService {
  readonly logName?: string;
  /** Here both parts may be given. */
  readonly logFormat?: LogFormat;
}

export interface SDSProvider extends ProviderService {
  readonly name?: string;
}
