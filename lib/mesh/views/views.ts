/**
 * What each generator is handed, and nothing else. `viewsOf(mesh, proxy)` selects what applies to a proxy and reduces it to
 * these views, each made by a step: proxies for which the same was selected have one view object, and so get one answer.
 * Nothing proxy-specific is in a view unless something selected really reads it (docs/how-istio-does-it/proxy-classes.md).
 */

import type { Config } from "../../config/config.ts";
import type { AuthorizationPolicy } from "../../config/kinds/authorization-policy.ts";
import type { EnvoyConfigObjectPatch, EnvoyFilter } from "../../config/kinds/envoy-filter.ts";
import type { MeshNetworks } from "../../config/kinds/mesh-networks.ts";
import type { KeyServer } from "../../config/kinds/remote-keys.ts";
import type { RequestAuthentication } from "../../config/kinds/request-authentication.ts";
import type { IstioIngressListener } from "../../config/kinds/sidecar.ts";
import type { Telemetry } from "../../config/kinds/telemetry.ts";
import type { TrafficExtension, WasmPlugin } from "../../config/kinds/wasm-plugin.ts";
import type { NetworkGateway } from "../../registry/changes/registry-state.ts";
import type { Endpoint, Service, ServicePort, ServiceTarget } from "../../registry/service.ts";
import type { MergedGateway } from "../gateway/merged-gateway.ts";
import type { MeshDestinationRule } from "../index/destination-rule-index.ts";
import type { MeshVirtualService } from "../index/virtual-service-index.ts";
import type { MeshSettings } from "../mesh-settings.ts";
import type { ServedSettings } from "../proxy/proxy.ts";
import type { EgressListener, SidecarScope } from "../scope/sidecar-scope.ts";

/** How a sidecar finds hosts that no service names, where all of them may be called by name. */
export interface DynamicDns {
  /** How many it keeps. */
  readonly maxHosts: number;
  /** Its agent's DNS server, where that captures DNS; absent: the system's. */
  readonly resolver?: { readonly address: string; readonly port: number };
}

/** What every generator may read of the proxies of a class. */
export interface ClassProxy {
  readonly type: "sidecar" | "router";
  readonly namespace: string;
  /** `<namespace>.svc.cluster.local`: decides which short names a route table answers to. */
  readonly dnsDomain: string;
  readonly clusterId: string;
  readonly ipMode: "IPv4" | "IPv6" | "dual";
  /** Family of the first address: decides between VIPs and binds where both are there. */
  readonly firstFamily: "IPv4" | "IPv6";
  readonly interceptionMode: "REDIRECT" | "TPROXY" | "NONE";
  /** Captures DNS, and so takes automatically allocated addresses. */
  readonly autoAllocatedAddresses: boolean;
  /** `sni-dnat` for the older east-west gateways, else "". */
  readonly routerMode: string;
  readonly istioVersion: string;
  /** Istio's own proxy has filters that stock Envoy lacks; absent: a stock Envoy. */
  readonly build?: "istio";
  /** How it finds hosts that no service names; absent: it does not resolve them. */
  readonly dynamicDns?: DynamicDns;
  /** Mesh default, ProxyConfig objects, annotation and node metadata merged: what some generator reads of it. */
  readonly proxyConfig: ClassProxyConfig;
}

/** A generator that reads another setting adds it to these, and `classProxyOf` asks the proxies for it. */
export type ClassProxyConfig = ServedSettings;

/** Lookups that depend on no proxy, nor on endpoints and policies: all that routes may ask. */
export interface ServiceLookups {
  readonly mesh: MeshSettings;
  readonly domain: string;
  readonly meshNetworks: MeshNetworks;
  /** Finds the service a host means when seen from a namespace, whatever a scope imports (extension providers). */
  serviceByHostname(hostname: string, namespace: string): Service | undefined;
  /** Every service of a host, whoever may see it: one a namespace. */
  servicesOfHost(hostname: string): readonly Service[];
}

/** What listeners may ask. */
export interface ListenerLookups extends ServiceLookups {
  /** Every endpoint of a headless service of the scope, in arrival order; none of any other service. */
  endpoints(service: Service): readonly Endpoint[];
}

/**
 * What clusters and endpoints may ask, for services in their scope. Only `endpoints` is another function for every change of an
 * endpoint: the others stay as long as their answers do, so that each of them can be an input of a step.
 */
export interface MeshLookups extends ServiceLookups {
  /** Every endpoint of a service, in arrival order. */
  endpoints(service: Service): readonly Endpoint[];
  /** Who may answer for a service with these endpoints: sorted, trust-domain aliases expanded. */
  readonly serviceAccounts: (service: Service, endpoints: readonly Endpoint[]) => readonly string[];
  readonly isClusterLocal: (service: Service) => boolean;
  /**
   * What clients guess that a port of a service takes; undefined: nothing says.
   * @see docs/how-istio-does-it/security.md#mutual-tls
   * @see docs/how-istio-does-it/security.md#what-clients-guess
   */
  readonly serviceMtlsMode: (service: Service, port: ServicePort) => MutualTlsMode | undefined;
  /**
   * Effective mode on one (target) port of the workload with these labels, also a workload of another class.
   * @see docs/how-istio-does-it/security.md#mutual-tls
   */
  readonly workloadMtlsMode: (
    namespace: string,
    labels: Readonly<Record<string, string>>,
    port: number,
  ) => MutualTlsMode;
  /** Of all networks: those that registries found, that Gateways stand for, and those of MeshNetworks. */
  readonly networkGateways: readonly NetworkGateway[];
  /** The same with addresses in place of host names. */
  readonly resolvedGateways: readonly NetworkGateway[];
}

export type MutualTlsMode = "DISABLE" | "PERMISSIVE" | "STRICT";

/** How an endpoint list is seen from where a proxy runs. Parts that nothing reads are empty, so that classes merge. */
export interface EndpointPerspective {
  readonly clusterId: string;
  readonly network: string;
  /** `REQUESTED_NETWORK_VIEW`; empty: all. */
  readonly networkView: readonly string[];
  /** `region/zone/subzone`. */
  readonly locality: string;
  readonly nodeName: string;
  readonly ipMode: "IPv4" | "IPv6" | "dual";
  /** Labels named by some failoverPriority, cluster and topology labels included. */
  readonly failoverLabels: Readonly<Record<string, string>>;
}

/** The services of a scope and their rules; nothing of its virtual services, which clusters and endpoints never read. */
export type ServiceScope = Omit<SidecarScope, "egressListeners">;

/** An egress listener as listeners read it. */
export interface ListenerEgress extends Pick<EgressListener, "spec" | "services"> {
  /** Those with routes for streams (`tcp`, `tls`): others are the route tables'. */
  readonly virtualServices: readonly MeshVirtualService[];
}

/** What listeners read of a scope. */
export interface ListenerScope extends ServiceScope {
  readonly egressListeners: readonly ListenerEgress[];
}

/** What every view has. */
export interface View {
  /** Names what was selected: the same in every process, and for no two views of one mesh. Made from the view's inputs. */
  key(): string;
}

/** What the views of listeners and route tables have. */
export interface ClassView extends View {
  readonly proxy: ClassProxy;
  /** The rule that applies to a service outbound (selector rules of the own namespace first). */
  readonly destinationRule: RuleLookup;
  /** Those that can touch the type. */
  readonly envoyFilters: EnvoyFilterPatches;
}

/** The same function as long as its answers are the same. */
export type RuleLookup = (service: Service) => MeshDestinationRule | undefined;

/** What clusters of services read: classes that differ in what they serve share it. */
export interface OutboundClusterView extends View {
  readonly proxy: ClassProxy;
  /** What the clusters of services read of the mesh: the same for all namespaces that see the same services and rules. */
  readonly endpoints: EndpointView;
  /** Of the merged gateway nothing else is read. */
  readonly containsAutoPassthrough: boolean;
  /** Files for client certificates (`TLS_CLIENT_*`), by key; empty as a rule. */
  readonly tlsClientFiles: Readonly<Record<string, string>>;
}

/** CDS: two views, since a change of endpoints touches the one, which classes share, and not the other. */
export interface ClusterView extends View {
  readonly outbound: OutboundClusterView;
  readonly own: OwnClusterView;
}

/** How a proxy finds the endpoints that are like it, for zone-aware balancing. */
export interface SelfDiscovery {
  /** The oldest of its services, at its first port; undefined: it serves nothing. */
  readonly target: ServiceTarget | undefined;
  readonly workload: string;
  /** Of the workload's version; "" for none. */
  readonly templateHash: string;
  readonly rolloutHash: string;
  /** "": not known. */
  readonly region: string;
}

/** What only clusters of the workload itself are made from, and how those of the class are patched. */
export interface OwnClusterView {
  readonly proxy: ClassProxy;
  readonly inbound: ServedView & View;
  /** Of a proxy that asks for endpoints like itself. */
  readonly self: SelfDiscovery | undefined;
  /** Whom the workload asks for keys outside of the mesh; as a rule nobody. */
  readonly keyServers: readonly KeyServer[];
  /** Those that can touch clusters. */
  readonly patches: EnvoyFilterPatches;
}

/** EDS, and the endpoints inlined in the poll shape: the same for all namespaces that see the same services and rules. */
export interface EndpointView extends View {
  readonly lookups: MeshLookups;
  readonly scope: Pick<SidecarScope, "services" | "serviceByHostname" | "destinationRules">;
  readonly destinationRule: RuleLookup;
  readonly perspective: EndpointPerspective;
}

/** RDS: sidecars by port or `host:port`, gateways by the names of their servers. */
export interface RouteView extends ClassView {
  readonly lookups: ServiceLookups;
  readonly scope: SidecarScope;
  /** Labels named by some `sourceLabels` of a virtual service in scope. */
  readonly sourceLabels: Readonly<Record<string, string>>;
  readonly gateway: GatewayRouteView | undefined;
  /** `HTTP_PROXY_PORT`, 0 for none. */
  readonly httpProxyPort: number;
}

/** What a gateway's route tables are made from. */
export interface GatewayRouteView {
  readonly merged: MergedGateway;
  /** By gateway name `namespace/name`, in order of precedence. */
  virtualServices(gatewayName: string): readonly MeshVirtualService[];
}

/** What outbound listeners of a sidecar read: classes that differ in what they serve, and how, share it. */
export interface OutboundListenerView extends View {
  readonly proxy: ClassProxy;
  readonly destinationRule: RuleLookup;
  readonly lookups: ListenerLookups;
  readonly scope: ListenerScope;
  readonly sourceLabels: Readonly<Record<string, string>>;
  /** Without what is about callers, but for authorization in front of hosts that are resolved at run time. */
  readonly policies: WorkloadPolicies;
  /** What authorizes calls of hosts that are resolved at run time, by namespace of their services where it is a third one. */
  readonly calledPolicies: ReadonlyMap<string, WorkloadPolicies["authorization"]>;
  readonly tracing: TracingView;
  readonly options: ListenerOptions;
  /** Own addresses, only where headless TCP or a Sidecar ingress listener reads them; else empty. */
  readonly ownAddresses: readonly string[];
}

/** LDS. */
export interface ListenerView extends ClassView, OutboundListenerView {
  readonly outbound: OutboundListenerView;
  readonly inbound: InboundView;
  readonly gateway: GatewayRouteView | undefined;
  /** All of them. */
  readonly policies: WorkloadPolicies;
}

/** What the literal tracing tags and the tracer say about the proxy; "" where nothing writes them. */
export interface TracingView {
  readonly canonicalName: string;
  readonly canonicalRevision: string;
  readonly meshId: string;
  readonly namespace: string;
  readonly clusterId: string;
  /** `node.cluster`, the tracer's service name. */
  readonly nodeCluster: string;
  /** The service's name by the conventions of OpenTelemetry, where a provider goes by them. */
  readonly conventionalName: string;
}

/** Node metadata that rarely varies. */
export interface ListenerOptions {
  readonly httpProxyPort: number;
  readonly http10: boolean;
  readonly idleTimeout: string;
  readonly unprivilegedPod: boolean;
  readonly inboundExactBalance: boolean;
  readonly outboundExactBalance: boolean;
  readonly statusPort: number;
  readonly prometheusPort: number;
  /** `TLS_SERVER_*`, by key. */
  readonly tlsServerFiles: Readonly<Record<string, string>>;
  /** The proxy fetches the key sets that a `jwksUri` names. Istio's control plane does, which no stage can. */
  readonly fetchesKeySets: boolean;
}

/** The inbound side: what the workload serves, and how its ports are secured. */
export interface InboundView {
  readonly targets: readonly ServiceTarget[];
  /** Non-empty: the Sidecar's own listeners replace the targets. */
  readonly ingressListeners: readonly IstioIngressListener[];
  /** The rule whose connection pool applies to inbound clusters of a service (selector rules never). */
  readonly destinationRule: RuleLookup;
  /** Sidecar's inbound connection pool, if any. */
  readonly scope: ServiceScope;
  /** Effective mode of a workload port. @see docs/how-istio-does-it/security.md#mutual-tls */
  mtlsMode(port: number): MutualTlsMode;
  /** Ports named in the chosen workload policy's portLevelMtls: each gets chains of its own. */
  readonly portLevelPorts: readonly number[];
  /** Own addresses, only where a Sidecar ingress listener reads them. */
  readonly ownAddresses: readonly string[];
}

/** What clusters may read of the inbound side: mTLS is the listeners'. */
export type ServedView = Omit<InboundView, "mtlsMode" | "portLevelPorts">;

/** Policies that apply to a workload, selected and in the order of their evaluation. */
export interface WorkloadPolicies {
  /** Root namespace's first, then the workload's; oldest first within each. */
  readonly authorization: readonly Config<AuthorizationPolicy>[];
  readonly requestAuthentication: readonly Config<RequestAuthentication>[];
  /** Lowest priority first: mesh, namespace, workload. */
  readonly telemetry: readonly Config<Telemetry>[];
  /** Highest priority first; the phases are not told apart. */
  readonly wasmPlugins: readonly Config<WasmPlugin>[];
  readonly trafficExtensions: readonly Config<TrafficExtension>[];
}

/** The patches that apply to a class, in order: priority, root namespace first, age, name. */
export interface EnvoyFilterPatches {
  readonly patches: readonly SelectedPatch[];
}

export interface SelectedPatch {
  readonly filter: Config<EnvoyFilter>;
  readonly patch: EnvoyConfigObjectPatch;
}
