import type { CommonRoute, HTTPBackendRef, HTTPRouteFilter, NamedMatch, SessionPersistence } from "./http-route.ts";
import type { BackendRef } from "./reference.ts";

/** `gateway.networking.k8s.io` GRPCRoute. @see https://gateway-api.sigs.k8s.io/reference/spec/#grpcroute */
export interface GRPCRoute extends CommonRoute {
  /** Absent or empty: those of the listener. */
  readonly hostnames?: readonly string[];
  readonly rules?: readonly GRPCRouteRule[];
}

export interface GRPCRouteRule {
  readonly name?: string;
  /** Absent or empty: every call. */
  readonly matches?: readonly GRPCRouteMatch[];
  /** Those of an HTTPRoute that concern headers and mirrors. */
  readonly filters?: readonly HTTPRouteFilter[];
  readonly backendRefs?: readonly HTTPBackendRef[];
  readonly sessionPersistence?: SessionPersistence;
}

export interface GRPCRouteMatch {
  readonly method?: {
    readonly type: "Exact" | "RegularExpression";
    readonly service?: string;
    readonly method?: string;
  };
  readonly headers?: readonly NamedMatch[];
}

/** `gateway.networking.k8s.io` TLSRoute: chosen by the name that a client asks for before anything is decrypted. */
export interface KubernetesTLSRoute extends CommonRoute {
  /** None in versions before v1: every name. */
  readonly hostnames?: readonly string[];
  readonly rules: readonly StreamRouteRule[];
}

/** `gateway.networking.k8s.io` TCPRoute. */
export interface KubernetesTCPRoute extends CommonRoute {
  readonly rules: readonly StreamRouteRule[];
}

export interface StreamRouteRule {
  readonly name?: string;
  readonly backendRefs: readonly BackendRef[];
}
