import type { ConnectionPoolSettings } from "./destination-rule.ts";
import type { ServerTLSSettings } from "./gateway.ts";
import type { Destination } from "./virtual-service.ts";

/** `networking.istio.io` Sidecar. @see https://istio.io/latest/docs/reference/config/networking/sidecar/ */
export interface Sidecar {
  /** Absent: the whole namespace. */
  readonly workloadSelector?: WorkloadSelector;
  readonly ingress?: readonly IstioIngressListener[];
  readonly egress?: readonly IstioEgressListener[];
  readonly inboundConnectionPool?: ConnectionPoolSettings;
  /** Absent: the mesh's. */
  readonly outboundTrafficPolicy?: OutboundTrafficPolicy;
}

/** `networking.v1alpha3.WorkloadSelector`: shared by Sidecar, EnvoyFilter and ServiceEntry. */
export interface WorkloadSelector {
  readonly labels?: Readonly<Record<string, string>>;
}

export type CaptureMode = "DEFAULT" | "IPTABLES" | "NONE";

export interface IstioIngressListener {
  readonly port: SidecarPort;
  readonly bind?: string;
  readonly captureMode?: CaptureMode;
  /** `host:port`, `:port` or `unix://path`. */
  readonly defaultEndpoint?: string;
  readonly tls?: ServerTLSSettings;
  readonly connectionPool?: ConnectionPoolSettings;
}

export interface IstioEgressListener {
  readonly port?: SidecarPort;
  readonly bind?: string;
  readonly captureMode?: CaptureMode;
  /** `namespace/dnsName`. */
  readonly hosts: readonly string[];
}

export interface SidecarPort {
  readonly number?: number;
  readonly protocol?: string;
  readonly name?: string;
  /** Deprecated, refused. */
  readonly targetPort?: number;
}

/** Sidecar's form; the mesh's has `tls` beside it. */
export interface OutboundTrafficPolicy {
  /** Absent: REGISTRY_ONLY. ALLOW_ANY_DYNAMIC_DNS only comes from the mesh. */
  readonly mode?: "REGISTRY_ONLY" | "ALLOW_ANY" | "ALLOW_ANY_DYNAMIC_DNS";
  readonly egressProxy?: Destination;
}
