import type { LabelSelector } from "../kinds/selector.ts";
import type { ListenerFilter } from "./http-route.ts";
import type { LocalObjectReference, ObjectReference, SecretReference } from "./reference.ts";

/** `gateway.networking.k8s.io` GatewayClass: which controller cares for the Gateways of a class. */
export interface GatewayClass {
  readonly controllerName: string;
  readonly description?: string;
  readonly parametersRef?: ObjectReference;
}

/** `gateway.networking.k8s.io` Gateway. @see https://gateway-api.sigs.k8s.io/reference/spec/#gateway */
export interface KubernetesGateway {
  readonly gatewayClassName: string;
  readonly listeners: readonly Listener[];
  /** None: a controller deploys the gateway. */
  readonly addresses?: readonly GatewayAddress[];
  readonly infrastructure?: GatewayInfrastructure;
  /** Which ListenerSets may add listeners; absent: none. */
  readonly allowedListeners?: AllowedListeners;
  readonly tls?: GatewayTLS;
  readonly defaultScope?: "All" | "None";
}

export interface GatewayAddress {
  /** `IPAddress`, `Hostname`, `NamedAddress`, or `domain/name`. */
  readonly type: string;
  readonly value?: string;
  /** From 1.7 on: `Cluster`, `domain/name` or nothing. A statement for who gives out addresses; without effect, as Portolan gives none. */
  readonly routability?: string;
}

export interface GatewayInfrastructure {
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly parametersRef?: LocalObjectReference;
}

export interface AllowedListeners {
  readonly namespaces: { readonly from: "All" | "Selector" | "Same" | "None"; readonly selector?: LabelSelector };
}

/** Of a Gateway, or one that a ListenerSet adds. */
export interface Listener {
  readonly name: string;
  /** Absent: every host. */
  readonly hostname?: string;
  readonly port: number;
  /** `HTTP`, `HTTPS`, `TLS`, `TCP`, `UDP`, or `domain/name`. */
  readonly protocol: string;
  readonly tls?: ListenerTLS;
  readonly allowedRoutes: AllowedRoutes;
  /** From 1.7 on: what requests pass before a route is chosen. Not supported: a listener with one is refused. */
  readonly filters?: { readonly requests?: readonly ListenerFilter[] };
}

export interface AllowedRoutes {
  readonly namespaces: { readonly from: "All" | "Selector" | "Same"; readonly selector?: LabelSelector };
  /** Absent or empty: those of the protocol. */
  readonly kinds?: readonly RouteGroupKind[];
}

export interface RouteGroupKind {
  readonly group: string;
  readonly kind: string;
}

export interface ListenerTLS {
  readonly mode: "Terminate" | "Passthrough";
  readonly certificateRefs?: readonly SecretReference[];
  readonly options?: Readonly<Record<string, string>>;
}

/** TLS of all listeners together. */
export interface GatewayTLS {
  /** Without effect on backends, as in Istio; since 1.31 the Gateway's status tells whether it can be used. */
  readonly backend?: { readonly clientCertificateRef?: SecretReference };
  readonly frontend?: {
    readonly default: FrontendTLS;
    readonly perPort?: readonly { readonly port: number; readonly tls: FrontendTLS }[];
  };
}

/** How clients prove who they are. */
export interface FrontendTLS {
  readonly validation?: {
    readonly caCertificateRefs: readonly ObjectReference[];
    readonly mode: "AllowValidOnly" | "AllowInsecureFallback";
  };
}

/** `gateway.networking.k8s.io` ListenerSet: listeners that others add to a Gateway. */
export interface ListenerSet {
  readonly parentRef: ObjectReference;
  readonly listeners: readonly Listener[];
}
