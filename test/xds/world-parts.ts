import type { ClusterJson } from "../../gen/envoy/config/cluster/v3/cluster_pb.ts";
import type { Release } from "../../lib/config/compat/compat-settings.ts";
import { type Config, defaultCreationTimeMs } from "../../lib/config/config.ts";
import type { DestinationRule } from "../../lib/config/kinds/destination-rule.ts";
import { defaultProxyConfig, type MeshConfig } from "../../lib/config/kinds/mesh-config.ts";
import { isIpAddress } from "../../lib/config/values/ip-address.ts";
import type { Memo } from "../../lib/incremental/memo.ts";
import type { MeshDestinationRule } from "../../lib/mesh/index/destination-rule-index.ts";
import type { SidecarScope } from "../../lib/mesh/scope/sidecar-scope.ts";
import type {
  ClassProxy,
  ClusterView,
  EndpointPerspective,
  InboundView,
  MeshLookups,
  MutualTlsMode,
  OutboundClusterView,
} from "../../lib/mesh/views/views.ts";
import type { NetworkGateway } from "../../lib/registry/changes/registry-state.ts";
import { plainAttributes, plainService } from "../../lib/registry/origin/plain-parts.ts";
import type { Endpoint, Service, ServiceAttributes, ServicePort } from "../../lib/registry/service.ts";
import { generateClusters } from "../../lib/xds/clusters/generate-clusters.ts";
import type { Parted, Resource } from "../../lib/xds/resource.ts";
import { settingsOf } from "../mesh/plain-settings.ts";

/** A Kubernetes service `name` in `default` with one HTTP port 80, unless said otherwise. */
export function service(
  name: string,
  parts: Partial<Omit<Service, "attributes">> & { readonly attributes?: Partial<ServiceAttributes> } = {},
): Service {
  const { attributes, ...rest } = parts;
  return {
    ...plainService,
    attributes: {
      ...plainAttributes,
      provider: "Kubernetes",
      name,
      namespace: "default",
      type: "ClusterIP",
      objectName: name,
      ...attributes,
    },
    hostname: `${name}.default.svc.cluster.local`,
    ports: [port("http", 80, "HTTP")],
    defaultAddress: "10.0.0.1",
    resolution: "ClientSideLB",
    meshExternal: false,
    serviceAccounts: [],
    origins: [
      {
        key: { group: "", kind: "Service", name, namespace: attributes?.namespace ?? "default" },
        file: "input.yaml",
        line: 1,
      },
    ],
    ...rest,
  };
}

/** An external host as a ServiceEntry makes it. */
export function externalService(hostname: string, parts: Partial<Omit<Service, "attributes">> = {}): Service {
  return {
    ...service(hostname, { attributes: { provider: "External", objectName: "ext" } }),
    hostname,
    meshExternal: true,
    ...parts,
  };
}

export function port(name: string, number: number, protocol: ServicePort["protocol"]): ServicePort {
  return { name, port: number, protocol };
}

/** A ready Kubernetes endpoint with a proxy, behind port `http`, unless said otherwise. */
export function endpoint(address: string, parts: Partial<Endpoint> & { readonly at?: string } = {}): Endpoint {
  const { at, ...rest } = parts;
  return {
    addresses: [address],
    port: 8080,
    servicePortName: "http",
    labels: {},
    locality: { label: at ?? "", clusterId: "Kubernetes" },
    network: "",
    weight: 0,
    health: "Healthy",
    tlsMode: "istio",
    serviceAccount: "",
    namespace: "default",
    workloadName: "w",
    hostName: "",
    subDomain: "",
    nodeName: "",
    hasHealth: true,
    unixPath: "",
    provider: "Kubernetes",
    ...rest,
  };
}

/** An object of one of Istio's kinds in namespace `default`, of the networking group unless said otherwise. */
export function config<Spec>(
  kind: string,
  name: string,
  spec: Spec,
  meta: {
    readonly namespace?: string;
    readonly group?: string;
    readonly annotations?: Config["meta"]["annotations"];
  } = {},
): Config<Spec> {
  const group = meta.group ?? "networking.istio.io";
  const key = { group, kind, name, namespace: meta.namespace ?? "default" };
  return {
    meta: {
      ...key,
      version: "v1",
      domain: "cluster.local",
      labels: {},
      annotations: meta.annotations ?? {},
      resourceVersion: "",
      creationTimestampMs: defaultCreationTimeMs,
    },
    spec,
    origin: { key, file: "input.yaml", line: 1 },
  };
}

export function rule(spec: DestinationRule, name = "r"): MeshDestinationRule {
  const made = config("DestinationRule", name, spec);
  return { config: made, from: [made.origin.key] };
}

/** A sidecar in `default` whose pod has one IPv4 address. */
export const proxy: ClassProxy = {
  type: "sidecar",
  namespace: "default",
  dnsDomain: "default.svc.cluster.local",
  clusterId: "Kubernetes",
  ipMode: "IPv4",
  firstFamily: "IPv4",
  interceptionMode: "REDIRECT",
  autoAllocatedAddresses: false,
  routerMode: "",
  istioVersion: "1.30.3",
  proxyConfig: defaultProxyConfig,
};

/** The scope of a namespace without a Sidecar, in which these services are visible. */
export function scopeOf(services: readonly Service[], more: Partial<SidecarScope> = {}): SidecarScope {
  return {
    id: "default/default",
    namespace: "default",
    sidecar: undefined,
    egressListeners: [],
    services,
    serviceByHostname: new Map(services.map((each) => [each.hostname, each])),
    outboundTrafficPolicy: {},
    ingressListeners: [],
    destinationRules: new Map(),
    ...more,
  };
}

export const here: EndpointPerspective = {
  clusterId: "Kubernetes",
  network: "",
  networkView: [],
  locality: "",
  nodeName: "",
  ipMode: "IPv4",
  failoverLabels: {},
};

/** A small mesh, stated by what differs from the default one. */
export interface Parts {
  readonly services?: readonly Service[];
  /** By service host. */
  readonly endpoints?: Readonly<Record<string, readonly Endpoint[]>>;
  /** By service host. */
  readonly rules?: Readonly<Record<string, MeshDestinationRule>>;
  readonly accounts?: readonly string[];
  readonly mesh?: Partial<MeshConfig>;
  readonly proxy?: Partial<ClassProxy>;
  readonly perspective?: Partial<EndpointPerspective>;
  readonly inbound?: Partial<InboundView>;
  readonly sidecar?: SidecarScope["sidecar"];
  readonly gateways?: readonly NetworkGateway[];
  /** Which release of Istio is answered like; absent: 1.30. */
  readonly release?: Release;
  readonly namespaceMode?: MutualTlsMode;
  readonly workloadMode?: MutualTlsMode;
  readonly clusterLocal?: boolean;
  readonly clientFiles?: Readonly<Record<string, string>>;
  /** A gateway that passes mesh mTLS on. */
  readonly passesMtlsOn?: boolean;
}

export function lookups(parts: Parts): MeshLookups {
  return {
    mesh: settingsOf(parts.mesh, parts.release),
    domain: "cluster.local",
    endpoints: (of) => parts.endpoints?.[of.hostname] ?? [],
    serviceAccounts: () => parts.accounts ?? [],
    isClusterLocal: () => parts.clusterLocal ?? false,
    serviceMtlsMode: () => parts.namespaceMode,
    workloadMtlsMode: () => parts.workloadMode ?? "PERMISSIVE",
    serviceByHostname: (hostname) => parts.services?.find((candidate) => candidate.hostname === hostname),
    servicesOfHost: () => [],
    meshNetworks: { networks: {} },
    networkGateways: parts.gateways ?? [],
    resolvedGateways: (parts.gateways ?? []).filter(({ address }) => isIpAddress(address)),
  };
}

/** The clusters of one class. */
export function clustersOf(view: ClusterView, memo: Memo): Parted<Resource<ClusterJson>> {
  const { shared, own } = generateClusters({ own: [view.own], outbound: [view.outbound] }, memo, "");
  return { shared: shared.flat(), own: own.flat() };
}

export function clusterView(parts: Parts): ClusterView {
  const services = parts.services ?? [];
  const scope = scopeOf(services, { sidecar: parts.sidecar });
  const destinationRule = (of: Service): MeshDestinationRule | undefined => parts.rules?.[of.hostname];
  const outbound: OutboundClusterView = {
    key: () => "",
    proxy: { ...proxy, ...parts.proxy },
    endpoints: {
      key: () => "",
      lookups: lookups(parts),
      scope,
      destinationRule,
      perspective: { ...here, ...parts.perspective },
    },
    containsAutoPassthrough: parts.passesMtlsOn ?? false,
    tlsClientFiles: parts.clientFiles ?? {},
  };
  return {
    key: () => "",
    outbound,
    own: {
      proxy: outbound.proxy,
      self: undefined,
      patches: { patches: [] },
      keyServers: [],
      inbound: {
        key: () => "",
        targets: [],
        ingressListeners: parts.sidecar?.spec.ingress ?? [],
        destinationRule,
        scope,
        mtlsMode: () => "PERMISSIVE",
        portLevelPorts: [],
        ownAddresses: [],
        ...parts.inbound,
      },
    },
  };
}
