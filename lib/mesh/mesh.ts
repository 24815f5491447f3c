import type { Config } from "../config/config.ts";
import type { ConfigKey } from "../config/diagnostic.ts";
import type { DestinationRule, TrafficPolicy } from "../config/kinds/destination-rule.ts";
import type { Gateway, Server } from "../config/kinds/gateway.ts";
import type { MeshConfig } from "../config/kinds/mesh-config.ts";
import type {
  IstioEgressListener,
  IstioIngressListener,
  OutboundTrafficPolicy,
  Sidecar,
} from "../config/kinds/sidecar.ts";
import type { VirtualService } from "../config/kinds/virtual-service.ts";
import type { RegistryState } from "../registry/registry-state.ts";
import type { Service } from "../registry/service.ts";
import type { EnvoyFilterIndex } from "./index/envoy-filter-index.ts";
import type { NetworkIndex } from "./index/network-index.ts";
import type { PeerAuthenticationIndex } from "./index/peer-authentication.ts";
import type { SidecarIndex } from "./index/sidecar-index.ts";
import type { ServedWorkload } from "./legacy-policies/served-port.ts";
import type { MeshLookups, ServiceLookups, WorkloadPolicies } from "./views/views.ts";

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
  /** True when every visible service is imported as it is. */
  readonly importsEverything: boolean;
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
   * Destination rules by host name, all candidates in order; `destinationRuleFor` picks for direction and labels.
   * @see docs/how-istio-does-it/destination-rules.md#which-rule-applies
   * @see docs/how-istio-does-it/destination-rules.md#effective-policy
   */
  readonly destinationRules: ReadonlyMap<string, readonly MeshDestinationRule[]>;
}

/** All Gateways that apply to one gateway workload, merged. */
export interface MergedGateway {
  /** Every Gateway that applies, oldest first. */
  readonly from: readonly ConfigKey[];
  readonly serverPorts: readonly ServerPort[];
  /** Parallel to `serverPorts`. */
  readonly mergedServers: readonly MergedServers[];
  /** Route name → its servers, in order. */
  readonly serversByRouteName: ReadonlyMap<string, readonly GatewayServer[]>;
  /** Port in the name of a route table (`parseGatewayRouteName`) → ports that its servers declare. */
  portMap(): ReadonlyMap<number, ReadonlySet<number>>;
  /** Some server passes mesh mTLS on by its server name, be it one that has no place on its port: clusters follow from this alone. */
  readonly containsAutoPassthrough: boolean;
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
  /** The same as it stands in the Gateway: it keeps its identity as long as the Gateway does. */
  readonly written: Server;
  readonly gateway: Config<Gateway>;
  readonly key: ConfigKey;
  /** `namespace/name`. */
  readonly gatewayName: string;
  /** "" for non-HTTP servers. */
  readonly routeName: string;
}

/** The services of the mesh; it reads no endpoint, so that a change of endpoints leaves it alone. */
export interface ServiceIndex {
  readonly all: readonly Service[];
  /** host → namespace → service. */
  readonly byHostname: ReadonlyMap<string, ReadonlyMap<string, Service>>;
  /** Visible to a namespace: exported to it by name first, then public ones. */
  visibleTo(namespace: string): readonly Service[];
  isVisible(service: Service, namespace: string): boolean;
  /** Whether a namespace has services that it does not export to itself: only the routes of a virtual service lead to those. */
  hidesOwn(namespace: string): boolean;
  /** The last of the services with the same host and namespace: its account names count for all of them. */
  youngest(service: Service): Service;
  /** The own namespace's service of a host, else the best of the visible ones. */
  visibleService(hostname: string, namespace: string): Service | undefined;
}

export interface VirtualServiceIndex {
  /** Oldest first, delegates merged into their roots. */
  readonly all: readonly MeshVirtualService[];
  /** Those bound to a gateway (`mesh` or `namespace/name`) that a namespace sees, in order of precedence. */
  forGateway(namespace: string, gateway: string): readonly MeshVirtualService[];
}

export interface DestinationRuleIndex {
  /**
   * Rules for a service seen from a namespace, in order; empty when there are none.
   * @see docs/how-istio-does-it/destination-rules.md#which-rule-applies
   */
  lookup(clientNamespace: string, hostname: string, serviceNamespace: string): readonly MeshDestinationRule[];
}

/**
 * The world, indexed. An index is the same object in the next mesh as long as nothing changed that it was made from.
 */
export interface Mesh {
  readonly config: MeshConfig;
  readonly domain: string;
  readonly compat: "istio" | "shared";
  readonly registry: RegistryState;
  readonly services: ServiceIndex;
  readonly virtualServices: VirtualServiceIndex;
  readonly destinationRules: DestinationRuleIndex;
  readonly sidecars: SidecarIndex;
  /** Oldest first, with those made from Ingresses. */
  readonly gateways: readonly Config<Gateway>[];
  readonly peerAuthentication: PeerAuthenticationIndex;
  /** Policies of a workload, with those that objects of releases before 1.6 stand for. */
  readonly policies: (workload: ServedWorkload) => WorkloadPolicies;
  readonly envoyFilters: EnvoyFilterIndex;
  readonly networks: NetworkIndex;
  /** Answers that depend on no proxy. */
  readonly lookups: MeshLookups;
  /** Those of them that neither endpoints nor policies can change. */
  readonly serviceLookups: ServiceLookups;
}

/** Effective policy of one subset and port. @see docs/how-istio-does-it/destination-rules.md#effective-policy */
export type EffectiveTrafficPolicy = Omit<TrafficPolicy, "portLevelSettings">;
