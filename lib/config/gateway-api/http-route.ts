import type { BackendObjectReference, BackendRef, LocalObjectReference, ParentReference } from "./reference.ts";

/** What every kind of route has. */
export interface CommonRoute {
  readonly parentRefs?: readonly ParentReference[];
  readonly useDefaultGateways?: "All" | "None";
}

/** `gateway.networking.k8s.io` HTTPRoute. @see https://gateway-api.sigs.k8s.io/reference/spec/#httproute */
export interface KubernetesHTTPRoute extends CommonRoute {
  /** Absent or empty: those of the listener. */
  readonly hostnames?: readonly string[];
  readonly rules: readonly HTTPRouteRule[];
}

export interface HTTPRouteRule {
  readonly name?: string;
  readonly matches: readonly HTTPRouteMatch[];
  readonly filters?: readonly HTTPRouteFilter[];
  readonly backendRefs?: readonly HTTPBackendRef[];
  readonly timeouts?: { readonly request?: string; readonly backendRequest?: string };
  readonly retry?: HTTPRouteRetry;
  readonly sessionPersistence?: SessionPersistence;
}

export interface HTTPRouteRetry {
  /** 400 to 599. */
  readonly codes?: readonly number[];
  readonly attempts?: number;
  readonly backoff?: string;
}

export interface HTTPRouteMatch {
  readonly path: { readonly type: "Exact" | "PathPrefix" | "RegularExpression"; readonly value: string };
  readonly headers?: readonly NamedMatch[];
  readonly queryParams?: readonly NamedMatch[];
  readonly method?: string;
}

/** Of a header or a query parameter. */
export interface NamedMatch {
  readonly type: "Exact" | "RegularExpression";
  readonly name: string;
  readonly value: string;
}

export interface HTTPBackendRef extends BackendRef {
  readonly filters?: readonly HTTPRouteFilter[];
}

/** The member that its type names is there, and no other. */
export interface HTTPRouteFilter {
  readonly type: string;
  readonly requestHeaderModifier?: HeaderModifier;
  readonly responseHeaderModifier?: HeaderModifier;
  readonly requestMirror?: RequestMirror;
  readonly requestRedirect?: RequestRedirect;
  readonly urlRewrite?: URLRewrite;
  readonly cors?: CORS;
  readonly externalAuth?: ExternalAuth;
  readonly extensionRef?: LocalObjectReference;
}

/** Of a listener: a request passes it before a route is chosen. */
export type ListenerFilter = Pick<HTTPRouteFilter, "type" | "externalAuth" | "extensionRef">;

export interface HeaderModifier {
  readonly set?: readonly HTTPHeader[];
  readonly add?: readonly HTTPHeader[];
  readonly remove?: readonly string[];
}

export interface HTTPHeader {
  readonly name: string;
  readonly value: string;
}

export interface RequestMirror {
  readonly backendRef: BackendObjectReference;
  /** Absent, as the fraction: every request. */
  readonly percent?: number;
  readonly fraction?: { readonly numerator: number; readonly denominator: number };
}

export interface RequestRedirect {
  readonly scheme?: "http" | "https";
  readonly hostname?: string;
  readonly path?: PathModifier;
  readonly port?: number;
  readonly statusCode: number;
}

export interface URLRewrite {
  readonly hostname?: string;
  readonly path?: PathModifier;
}

export interface PathModifier {
  readonly type: "ReplaceFullPath" | "ReplacePrefixMatch";
  readonly replaceFullPath?: string;
  readonly replacePrefixMatch?: string;
}

export interface CORS {
  readonly allowOrigins?: readonly string[];
  readonly allowCredentials?: boolean;
  readonly allowMethods?: readonly string[];
  readonly allowHeaders?: readonly string[];
  readonly exposeHeaders?: readonly string[];
  /** Seconds. */
  readonly maxAge: number;
}

/** Not served: a route with it is refused, as in Istio. */
export interface ExternalAuth {
  readonly protocol: "HTTP" | "GRPC";
  readonly backendRef: BackendObjectReference;
  readonly grpc?: { readonly allowedHeaders?: readonly string[] };
  readonly http?: {
    readonly path?: string;
    readonly allowedHeaders?: readonly string[];
    readonly allowedResponseHeaders?: readonly string[];
  };
  readonly forwardBody?: { readonly maxSize?: number };
}

/** Read, and without effect, as in Istio. */
export interface SessionPersistence {
  readonly sessionName?: string;
  readonly absoluteTimeout?: string;
  readonly idleTimeout?: string;
  readonly type: "Cookie" | "Header";
  /** Until 1.6. */
  readonly cookieConfig?: { readonly lifetimeType: "Permanent" | "Session" };
  /** From 1.7 on, for type Cookie. */
  readonly cookie?: { readonly lifetimeType: "Permanent" | "Session"; readonly path: string; readonly name?: string };
  /** From 1.7 on, for type Header. */
  readonly header?: { readonly name: string };
}
