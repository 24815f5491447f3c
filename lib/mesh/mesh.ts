import type { Config } from "../config/config.ts";
import type { ConfigKey } from "../config/diagnostic.ts";
import type { DestinationRule, TrafficPolicy } from "../config/kinds/destination-rule.ts";
import type { Gateway, Server } from "../config/kinds/gateway.ts";
import type { MeshConfig, ProxyConfig } from "../config/kinds/mesh-config.ts";
import type {
  IstioEgressListener,
  IstioIngressListener,
  OutboundTrafficPolicy,
  Sidecar,
} from "../config/kinds/sidecar.ts";
import type { VirtualService } from "../config/kinds/virtual-service.ts";
import type { RegistryState } from "../registry/registry-state.ts";
import type { Service, ServicePort } from "../registry/service.ts";

/** A virtual service with short names resolved, delegates merged, and the keys of all objects that went into it. */
export interface MeshVirtualService {
  readonly config: Config<VirtualService>;
  /** Hosts as fully qualified names. */
  readonly hosts: readonly string[];
  /** `mesh` or `namespace/name`; never empty. */
  readonly gateways: readonly string[];
  readonly from: readonly ConfigKey[];
}

/** The destination rule that applies to a host: several objects for one host merged into one. */
export interface MeshDestinationRule {
  /** Metadata of the first object; the merged spec, host fully qualified. */
  readonly config: Config<DestinationRule>;
  readonly from: readonly ConfigKey[];
}

/** One egress listener of a sidecar scope: what it imports. */
export interface EgressListener {
  /** undefined: the catch-all listener of a scope without Sidecar, or of a Sidecar without egress list. */
  readonly spec: IstioEgressListener | undefined;
  /** True when the listener has a port of its own that trims its services (any protocol but HTTP_PROXY). */
  readonly matchPort: boolean;
  /** In Istio's order: own namespace's and exported ones first, then public ones, oldest first. */
  readonly services: readonly Service[];
  readonly virtualServices: readonly MeshVirtualService[];
  /** Service host → the virtual service with the most specific host for it. */
  readonly virtualServiceByHost: ReadonlyMap<string, MeshVirtualService>;
}

/** What one Sidecar (or none) lets the proxies of a namespace see. */
export interface SidecarScope {
  /** `namespace/name` of the Sidecar seen from the namespace it takes effect in, or the default of the namespace. */
  readonly id: string;
  readonly namespace: string;
  readonly sidecar: Config<Sidecar> | undefined;
  readonly egressListeners: readonly EgressListener[];
  readonly services: readonly Service[];
  readonly serviceByHostname: ReadonlyMap<string, Service>;
  readonly outboundTrafficPolicy: OutboundTrafficPolicy;
  /** Non-empty: inbound listeners come from here and not from service targets. */
  readonly ingressListeners: readonly IstioIngressListener[];
  /**
   * Destination rules by `serviceKey`, all candidates in order; `destinationRuleFor` picks for direction and labels.
   * @see model-push 6.3, 6.4
   */
  readonly destinationRules: ReadonlyMap<string, readonly MeshDestinationRule[]>;
  /** Every object that the scope was made from; a change of any other cannot change it. */
  readonly dependencies: ReadonlySet<string>;
}

/** All Gateways that apply to one gateway workload, merged. */
export interface MergedGateway {
  readonly serverPorts: readonly ServerPort[];
  /** Parallel to `serverPorts`. */
  readonly mergedServers: readonly MergedServers[];
  /** Route name → its servers, in order. */
  readonly serversByRouteName: ReadonlyMap<string, readonly GatewayServer[]>;
  /** Physical (target) port → declared server ports. */
  readonly portMap: ReadonlyMap<number, ReadonlySet<number>>;
  readonly containsAutoPassthrough: boolean;
  readonly autoPassthroughSniHosts: ReadonlySet<string>;
  /** Credential names this gateway may be told to fetch. */
  readonly verifiedCredentials: ReadonlySet<string>;
}

export interface ServerPort {
  /** Port the workload listens on. */
  readonly number: number;
  readonly protocol: string;
  readonly bind: string;
}

export interface MergedServers {
  readonly servers: readonly GatewayServer[];
  /** "" where the servers have no RDS. */
  readonly routeName: string;
}

/** One server of one Gateway, hosts sanitised. */
export interface GatewayServer {
  readonly server: Server;
  readonly gateway: Config<Gateway>;
  /** `namespace/name`. */
  readonly gatewayName: string;
  /** "" for non-HTTP servers. */
  readonly routeName: string;
  /** SNI hosts: without namespace prefix, unique, sorted. */
  readonly sniHosts: readonly string[];
}

/** Lookups over the frozen mesh that both scopes and generators need; each is bound to one world. */
export interface ServiceIndex {
  readonly all: readonly Service[];
  /** host → namespace → service. */
  readonly byHostname: ReadonlyMap<string, ReadonlyMap<string, Service>>;
  /** Visible to a namespace: exported to it first, then public ones. */
  visibleTo(namespace: string): readonly Service[];
  isVisible(service: Service, namespace: string): boolean;
  /** Endpoint accounts and declared ones, trust-domain aliases expanded, sorted. */
  serviceAccounts(service: Service): readonly string[];
  isClusterLocal(service: Service): boolean;
}

export interface Mesh {
  readonly config: MeshConfig;
  readonly domain: string;
  readonly compat: "istio" | "shared";
  readonly registry: RegistryState;
  readonly services: ServiceIndex;
}

/** Effective policy of one subset and port. @see model-push 6.4 */
export type EffectiveTrafficPolicy = Omit<TrafficPolicy, "portLevelSettings">;

/** ProxyConfig with all layers applied. */
export type EffectiveProxyConfig = ProxyConfig;

export type { ServicePort };
