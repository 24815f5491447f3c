import type { Origin } from "../base/diagnostic.ts";
import { isWildcard } from "../config/values/host-name.ts";

/**
 * The service model: what runs, from whatever registry it came. Plain readonly data.
 * @see istio 1.30.3 pilot/pkg/model/service.go
 */

/** Istio's protocol of a port, after detection; `Unsupported` means "sniff it". */
export type Protocol =
  | "TCP"
  | "UDP"
  | "HTTP"
  | "HTTP_PROXY"
  | "HTTP2"
  | "HTTPS"
  | "GRPC"
  | "GRPC-Web"
  | "TLS"
  | "Mongo"
  | "Redis"
  | "MySQL"
  | "HBONE"
  | "DOUBLEHBONE"
  | "Unsupported";

export interface ServicePort {
  readonly name: string;
  readonly port: number;
  readonly protocol: Protocol;
}

export type Resolution =
  | "ClientSideLB"
  | "DNSLB"
  | "DNSRoundRobinLB"
  | "DynamicDNS"
  | "Passthrough"
  /** Kubernetes ExternalName: an alias of another host. */
  | "Alias";

export type Provider = "Kubernetes" | "External" | "Consul" | "Mock" | "MCP";

/** One address of a service per cluster; Kubernetes services of several clusters merge into one with several entries. */
export type ClusterVips = ReadonlyMap<string, readonly string[]>;

/** Are connections to a port mutual TLS, whatever the mesh says? */
export type PortAuthentication = "NONE" | "MUTUAL_TLS";

export interface ServiceAttributes {
  readonly provider: Provider;
  /** Name of the registry's object; for a ServiceEntry the host name (as Istio has it). */
  readonly name: string;
  readonly namespace: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Declared exportTo, `.` not resolved; undefined: nothing declared, the mesh default applies. */
  readonly exportTo: readonly string[] | undefined;
  /** Label selector of the workloads; undefined: none. */
  readonly selector: Readonly<Record<string, string>> | undefined;
  /** `LoadBalancer`, `NodePort`, `ClusterIP`, `ExternalName`; "" elsewhere. */
  readonly type: string;
  /** Kubernetes object name behind it ("" for others): ServiceEntry's object name where provider is External. */
  readonly objectName: string;
  /** ExternalName: the host that this one is an alias of. */
  readonly externalName?: string;
  /** `spec.externalIPs` and load balancer ingress addresses, by cluster id. */
  readonly clusterExternalAddresses: ReadonlyMap<string, readonly string[]>;
  /** Service port → node port, by cluster id; used for node-port gateways. */
  readonly clusterExternalPorts: ReadonlyMap<string, ReadonlyMap<number, number>>;
  /** Kubernetes `trafficDistribution`. */
  readonly trafficDistribution: "Any" | "PreferClose" | "PreferSameZone" | "PreferSameNode";
  /** `internalTrafficPolicy: Local`. */
  readonly nodeLocal: boolean;
  readonly publishNotReadyAddresses: boolean;
  /** ServiceEntry with resolution NONE: service port → target port, for the ports that state one. */
  readonly passthroughTargetPorts?: ReadonlyMap<number, number>;
  /** A name with several addresses is connected to at all of them, and the first connection that stands is used. */
  readonly racesConnections?: true;
  /** Only routes lead to it: nothing is listened on for it, it has no name that callers could use, and its workloads serve nothing more for it. */
  readonly routesOnly?: true;
  /** Of the annotations `auth.istio.io/<port>`, by service port: read for the v1 API alone. Absent: none. */
  readonly portAuthentication?: ReadonlyMap<number, PortAuthentication>;
  /** Alias services of this one, sorted by namespace, host. */
  readonly aliases: readonly { readonly hostname: string; readonly namespace: string }[];
}

export interface Service {
  readonly attributes: ServiceAttributes;
  readonly hostname: string;
  readonly ports: readonly ServicePort[];
  /** First address in the primary cluster; "0.0.0.0" where there is none. */
  readonly defaultAddress: string;
  /** Address given automatically because the object states none; "" when there is none. */
  readonly autoAllocatedIPv4: string;
  readonly autoAllocatedIPv6: string;
  readonly clusterVips: ClusterVips;
  readonly resolution: Resolution;
  readonly meshExternal: boolean;
  /** Service accounts declared on the object (annotations, subjectAltNames); sorted. */
  readonly serviceAccounts: readonly string[];
  readonly creationTimestampMs: number;
  readonly resourceVersion: string;
  /** Objects that this service was made from: the registry's object(s), or the ServiceEntry. */
  readonly origins: readonly Origin[];
}

export interface Locality {
  /** `region/zone/subzone`, empty parts allowed, "" for unknown. */
  readonly label: string;
  readonly clusterId: string;
}

export type HealthStatus = "Healthy" | "Unhealthy" | "Draining" | "Terminating";

/** One address and port behind one port of a service (Istio's IstioEndpoint). */
export interface Endpoint {
  /** First the primary one; none where only the network is known; a socket as `unix://` and its path. */
  readonly addresses: readonly string[];
  /** Target port; 0 for a unix socket. */
  readonly port: number;
  /** Name of the service port that it backs. */
  readonly servicePortName: string;
  /**
   * ServiceEntries: number of the service port, which joins endpoint and port instead of the name, because entries of
   * one host may give one name to several ports. Absent elsewhere.
   */
  readonly servicePortNumber?: number;
  readonly labels: Readonly<Record<string, string>>;
  readonly locality: Locality;
  readonly network: string;
  /** 0: unset, which weighs 1. */
  readonly weight: number;
  readonly health: HealthStatus;
  /** "istio": its proxy takes mTLS; "disabled": none. */
  readonly tlsMode: "istio" | "disabled";
  /** SPIFFE identity, "" when unknown. */
  readonly serviceAccount: string;
  readonly namespace: string;
  /** Name of the pod or WorkloadEntry; "" when none is known. */
  readonly workloadName: string;
  readonly hostName: string;
  readonly subDomain: string;
  readonly nodeName: string;
  /** True where the registry says whether an endpoint is ready (EndpointSlices); Envoy's health is written only then. */
  readonly hasHealth: boolean;
  /** Path of a unix socket; "" otherwise. */
  readonly unixPath: string;
  /** Registry that reported it. */
  readonly provider: Provider;
}

/** A service, one of its ports and one endpoint behind it. */
export interface ServiceInstance {
  readonly service: Service;
  readonly servicePort: ServicePort;
  readonly endpoint: Endpoint;
}

/** A port on which a proxy's own workload serves: inbound clusters and chains are made from these. */
export interface ServiceTarget {
  readonly service: Service;
  readonly servicePort: ServicePort;
  /** Port the workload listens on. */
  readonly targetPort: number;
}

/** A workload known to a registry: a pod, or a WorkloadEntry. */
export interface Workload {
  readonly kind: "Pod" | "WorkloadEntry";
  readonly name: string;
  readonly namespace: string;
  readonly clusterId: string;
  readonly addresses: readonly string[];
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  /** Bare service account name. */
  readonly serviceAccount: string;
  readonly locality: string;
  readonly network: string;
  readonly nodeName: string;
  readonly ready: boolean;
  readonly origin: Origin;
  /** Absent: no pod. */
  readonly pod?: PodFacts;
}

/**
 * What a pod says of its proxy beside its labels and annotations; nothing else of its spec is kept. Proxies are made from it
 * (`lib/mesh/proxy`), registries do not read it.
 */
export interface PodFacts {
  readonly owner: WorkloadOwner;
  /** Names of its containers but for the proxy's, in their order. */
  readonly appContainers: readonly string[];
  /** Address of the node that it runs on; "" when not known. */
  readonly hostAddress: string;
  /** Undefined: nobody has injected one, or written anything for it. */
  readonly proxyContainer: ProxyContainer | undefined;
  /** Of a workload's template, which stands for pods that nobody has seen; absent: the pod is there. */
  readonly injection?: Injection;
}

/** Whether a pod that is to be made gets a proxy; `assumed`: it does unless the labels of its namespace, which nobody knows, say no. */
export type Injection = "yes" | "no" | "assumed";

/** `apps/v1`, `Deployment`, `web`. */
export interface WorkloadOwner {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
}

/** A container that runs Istio's agent; without arguments it is still to be injected, and says something beforehand. */
export interface ProxyContainer {
  /** Where it stands in the pod: `["spec", "containers", 1]`. */
  readonly path: readonly (string | number)[];
  readonly image: string;
  /** With variables expanded: `["proxy", "sidecar", "--domain", "shop.svc.cluster.local"]`. */
  readonly args: readonly string[];
  /** The variables that the agent makes its node of, as the kubelet sets them. */
  readonly environment: Readonly<Record<string, string>>;
  /** Names of those whose value is no part of the pod: it stands in a ConfigMap, a Secret or a file. */
  readonly elsewhere: readonly string[];
}

/** SPIFFE URI of a service account; `@` cannot stand in a trust domain and becomes `.`. */
export function spiffeUri(trustDomain: string, namespace: string, account: string): string {
  return `spiffe://${trustDomain.replaceAll("@", ".")}/ns/${namespace}/sa/${account}`;
}

/** The port of a service with a number; UDP has numbers of its own, and proxies have nothing to do with it. */
export function streamPort(service: Service, number: number): ServicePort | undefined {
  return service.ports.find((port) => port.port === number && port.protocol !== "UDP");
}

/** A wildcard whose names Envoy resolves when a request or connection says which one. */
export function isDynamicWildcard(service: Pick<Service, "resolution" | "hostname">): boolean {
  return service.resolution === "DynamicDNS" && isWildcard(service.hostname);
}
