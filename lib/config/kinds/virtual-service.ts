/**
 * `networking.istio.io` VirtualService.
 *
 * As in every file of this folder: flat proto-JSON, durations as canonical texts (`5s`, `0.100s`), and explicit zero
 * values of plain fields (0, false, "", empty lists and maps) read as absent, so absent is the only form of unset.
 * @see https://istio.io/latest/docs/reference/config/networking/virtual-service/
 */
export interface VirtualService {
  /** Empty: a delegate, which only applies where a root names it. */
  readonly hosts: readonly string[];
  /** Absent: `mesh`. */
  readonly gateways?: readonly string[];
  readonly http?: readonly HTTPRoute[];
  readonly tls?: readonly TLSRoute[];
  readonly tcp?: readonly TCPRoute[];
  /** Absent: the mesh's `defaultVirtualServiceExportTo`. */
  readonly exportTo?: readonly string[];
}

export interface HTTPRoute {
  readonly name?: string;
  /** Absent: everything. */
  readonly match?: readonly HTTPMatchRequest[];
  readonly route?: readonly HTTPRouteDestination[];
  readonly redirect?: HTTPRedirect;
  readonly directResponse?: HTTPDirectResponse;
  readonly delegate?: Delegate;
  readonly rewrite?: HTTPRewrite;
  readonly timeout?: string;
  readonly retries?: HTTPRetry;
  readonly fault?: HTTPFaultInjection;
  readonly mirror?: Destination;
  readonly mirrors?: readonly HTTPMirrorPolicy[];
  /** Deprecated spelling of `mirrorPercentage`; 0 is meant. */
  readonly mirrorPercent?: number;
  readonly mirrorPercentage?: Percent;
  readonly corsPolicy?: CorsPolicy;
  readonly headers?: Headers;
  /** Release 0.8's, as the next two; read for the v1 API only. */
  readonly websocketUpgrade?: boolean;
  readonly appendHeaders?: Readonly<Record<string, string>>;
  readonly removeResponseHeaders?: Readonly<Record<string, string>>;
}

/** Exactly one member; none of them when the object is `{}`, which matches presence of a header. */
export interface StringMatch {
  readonly exact?: string;
  readonly prefix?: string;
  /** RE2, whole text. */
  readonly regex?: string;
}

export interface HTTPMatchRequest {
  readonly name?: string;
  readonly uri?: StringMatch;
  readonly scheme?: StringMatch;
  readonly method?: StringMatch;
  readonly authority?: StringMatch;
  readonly headers?: Readonly<Record<string, StringMatch>>;
  readonly withoutHeaders?: Readonly<Record<string, StringMatch>>;
  readonly queryParams?: Readonly<Record<string, StringMatch>>;
  readonly port?: number;
  readonly sourceLabels?: Readonly<Record<string, string>>;
  readonly gateways?: readonly string[];
  readonly ignoreUriCase?: boolean;
  readonly sourceNamespace?: string;
  readonly statPrefix?: string;
}

export interface HTTPRouteDestination {
  readonly destination: Destination;
  /** Absent: 0, which means everything where it stands alone. */
  readonly weight?: number;
  readonly headers?: Headers;
}

export interface Destination {
  readonly host: string;
  readonly subset?: string;
  readonly port?: PortSelector;
}

export interface PortSelector {
  readonly number?: number;
}

export interface HTTPRedirect {
  readonly uri?: string;
  readonly authority?: string;
  readonly port?: number;
  readonly derivePort?: "FROM_PROTOCOL_DEFAULT" | "FROM_REQUEST_PORT";
  readonly scheme?: string;
  /** Absent: 301. */
  readonly redirectCode?: number;
  /** A field of 1.31: takes the place of the prefix that is matched. Not together with uri. */
  readonly prefixRewrite?: string;
}

export interface HTTPDirectResponse {
  readonly status: number;
  readonly body?: HTTPBody;
}

export interface HTTPBody {
  readonly string?: string;
  /** Base64. */
  readonly bytes?: string;
}

export interface Delegate {
  readonly name?: string;
  /** Absent: the root's namespace. */
  readonly namespace?: string;
}

export interface HTTPRewrite {
  readonly uri?: string;
  readonly authority?: string;
  readonly uriRegexRewrite?: RegexRewrite;
}

export interface RegexRewrite {
  readonly match?: string;
  readonly rewrite?: string;
}

export interface HTTPRetry {
  /** Absent: 0, no retries. */
  readonly attempts?: number;
  readonly perTryTimeout?: string;
  /** Comma-separated conditions and status codes. */
  readonly retryOn?: string;
  readonly retryRemoteLocalities?: boolean;
  readonly retryIgnorePreviousHosts?: boolean;
  readonly backoff?: string;
}

export interface HTTPFaultInjection {
  readonly delay?: HTTPFaultDelay;
  readonly abort?: HTTPFaultAbort;
}

export interface HTTPFaultDelay {
  readonly fixedDelay?: string;
  readonly exponentialDelay?: string;
  readonly percentage?: Percent;
  /** Deprecated whole percent. */
  readonly percent?: number;
}

export interface HTTPFaultAbort {
  readonly httpStatus?: number;
  readonly grpcStatus?: string;
  readonly http2Error?: string;
  readonly percentage?: Percent;
  /** Release 0.8's whole percent; read for the v1 API only. */
  readonly percent?: number;
}

/** 0..100, fractions down to 0.0001; `{}` is 0. */
export interface Percent {
  readonly value?: number;
}

export interface HTTPMirrorPolicy {
  readonly destination: Destination;
  /** Absent: everything. */
  readonly percentage?: Percent;
}

export interface CorsPolicy {
  readonly allowOrigins?: readonly StringMatch[];
  /** Deprecated: exact origins. */
  readonly allowOrigin?: readonly string[];
  readonly allowMethods?: readonly string[];
  readonly allowHeaders?: readonly string[];
  readonly exposeHeaders?: readonly string[];
  readonly maxAge?: string;
  readonly allowCredentials?: boolean;
  readonly unmatchedPreflights?: "UNSPECIFIED" | "FORWARD" | "IGNORE";
}

export interface Headers {
  readonly request?: HeaderOperations;
  readonly response?: HeaderOperations;
}

export interface HeaderOperations {
  readonly set?: Readonly<Record<string, string>>;
  readonly add?: Readonly<Record<string, string>>;
  readonly remove?: readonly string[];
}

export interface TLSRoute {
  readonly match: readonly TLSMatchAttributes[];
  readonly route?: readonly RouteDestination[];
}

export interface TLSMatchAttributes {
  readonly sniHosts: readonly string[];
  readonly destinationSubnets?: readonly string[];
  readonly port?: number;
  readonly sourceLabels?: Readonly<Record<string, string>>;
  readonly gateways?: readonly string[];
  readonly sourceNamespace?: string;
}

export interface TCPRoute {
  readonly match?: readonly L4MatchAttributes[];
  readonly route?: readonly RouteDestination[];
}

export interface L4MatchAttributes {
  readonly destinationSubnets?: readonly string[];
  readonly port?: number;
  readonly sourceSubnet?: string;
  readonly sourceLabels?: Readonly<Record<string, string>>;
  readonly gateways?: readonly string[];
  readonly sourceNamespace?: string;
}

export interface RouteDestination {
  readonly destination: Destination;
  readonly weight?: number;
}
