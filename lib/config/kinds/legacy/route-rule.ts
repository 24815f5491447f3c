import type { StringMatch } from "../virtual-service.ts";
import type { IstioService } from "./istio-service.ts";

/** `config.istio.io/v1alpha2` RouteRule. @see docs/how-istio-does-it/kind-rules.md#routerule */
export interface RouteRule {
  readonly destination: IstioService;
  /** Absent: 0; higher comes first. */
  readonly precedence?: number;
  /** Absent: everything. */
  readonly match?: MatchCondition;
  /** Absent: the whole service. */
  readonly route?: readonly DestinationWeight[];
  readonly redirect?: LegacyHTTPRedirect;
  readonly rewrite?: LegacyHTTPRewrite;
  readonly websocketUpgrade?: boolean;
  readonly httpReqTimeout?: LegacyHTTPTimeout;
  readonly httpReqRetries?: LegacyHTTPRetry;
  readonly httpFault?: LegacyHTTPFaultInjection;
  /** Refused. */
  readonly l4Fault?: Readonly<Record<string, unknown>>;
  readonly mirror?: IstioService;
  readonly corsPolicy?: LegacyCorsPolicy;
  readonly appendHeaders?: Readonly<Record<string, string>>;
}

export interface MatchCondition {
  readonly source?: IstioService;
  readonly tcp?: L4MatchAttributes;
  /** Refused. */
  readonly udp?: L4MatchAttributes;
  readonly request?: MatchRequest;
}

export interface L4MatchAttributes {
  readonly sourceSubnet?: readonly string[];
  readonly destinationSubnet?: readonly string[];
}

export interface MatchRequest {
  /** Lower-case names; `uri`, `scheme`, `method` and `authority` mean the parts of the request. */
  readonly headers?: Readonly<Record<string, StringMatch>>;
}

export interface DestinationWeight {
  /** Absent: the rule's own destination. */
  readonly destination?: IstioService;
  readonly labels?: Readonly<Record<string, string>>;
  /** Percent; absent on a single entry: everything. */
  readonly weight?: number;
}

export interface LegacyHTTPRedirect {
  readonly uri?: string;
  readonly authority?: string;
}

export interface LegacyHTTPRewrite {
  readonly uri?: string;
  readonly authority?: string;
}

export interface LegacyHTTPTimeout {
  readonly simpleTimeout?: { readonly timeout?: string; readonly overrideHeaderName?: string };
  readonly custom?: Readonly<Record<string, unknown>>;
}

export interface LegacyHTTPRetry {
  readonly simpleRetry?: {
    readonly attempts?: number;
    readonly perTryTimeout?: string;
    readonly overrideHeaderName?: string;
  };
  readonly custom?: Readonly<Record<string, unknown>>;
}

export interface LegacyHTTPFaultInjection {
  readonly delay?: {
    /** 0..100, with fractions. */
    readonly percent?: number;
    readonly fixedDelay?: string;
    readonly exponentialDelay?: string;
    readonly overrideHeaderName?: string;
  };
  readonly abort?: {
    readonly percent?: number;
    readonly httpStatus?: number;
    readonly grpcStatus?: string;
    readonly http2Error?: string;
    readonly overrideHeaderName?: string;
  };
}

export interface LegacyCorsPolicy {
  readonly allowOrigin?: readonly string[];
  readonly allowMethods?: readonly string[];
  readonly allowHeaders?: readonly string[];
  readonly exposeHeaders?: readonly string[];
  readonly maxAge?: string;
  /** Wrapper: false is not absent. */
  readonly allowCredentials?: boolean;
}
