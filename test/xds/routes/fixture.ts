import { byAge, type Config, defaultCreationTimeMs } from "../../../lib/config/config.ts";
import type { DestinationRule } from "../../../lib/config/kinds/destination-rule.ts";
import type { Gateway } from "../../../lib/config/kinds/gateway.ts";
import { defaultMeshConfig, defaultProxyConfig } from "../../../lib/config/kinds/mesh-config.ts";
import type { IstioEgressListener } from "../../../lib/config/kinds/sidecar.ts";
import type { VirtualService } from "../../../lib/config/kinds/virtual-service.ts";
import { isSubsetHost } from "../../../lib/mesh/host-name.ts";
import type {
  EgressListener,
  GatewayServer,
  MeshDestinationRule,
  MeshVirtualService,
  SidecarScope,
} from "../../../lib/mesh/mesh.ts";
import type { ClassProxy, RouteView } from "../../../lib/mesh/views.ts";
import type { Protocol, Service } from "../../../lib/registry/service.ts";

/** Hand-built inputs of the route room: only what a test is about has to be said. */

function config<Spec>(kind: string, name: string, namespace: string, spec: Spec): Config<Spec> {
  return {
    meta: {
      kind,
      group: "networking.istio.io",
      version: "v1",
      name,
      namespace,
      domain: "cluster.local",
      labels: {},
      annotations: {},
      resourceVersion: "",
      creationTimestampMs: defaultCreationTimeMs,
    },
    spec,
    origin: { key: { kind, name, namespace }, file: "input.yaml", line: 1 },
  };
}

export function virtualService(
  name: string,
  spec: Partial<VirtualService>,
  annotations: Readonly<Record<string, string>> = {},
): MeshVirtualService {
  const hosts = spec.hosts ?? ["a.default.svc.cluster.local"];
  const made = config<VirtualService>("VirtualService", name, "default", { ...spec, hosts });
  return {
    config: { ...made, meta: { ...made.meta, annotations } },
    hosts,
    gateways: spec.gateways ?? ["mesh"],
    from: [made.origin.key],
  };
}

export function destinationRule(spec: DestinationRule): MeshDestinationRule {
  const made = config("DestinationRule", spec.host, "default", spec);
  return { config: made, from: [made.origin.key] };
}

export function service(
  host: string,
  ports: readonly (readonly [port: number, protocol: Protocol])[],
  more: Partial<Omit<Service, "attributes">> & { readonly attributes?: Partial<Service["attributes"]> } = {},
): Service {
  const [name = "", namespace = ""] = host.split(".");
  const key = { kind: "Service", name, namespace };
  const { attributes, ...rest } = more;
  return {
    hostname: host,
    ports: ports.map(([port, protocol]) => ({ name: `p${port}`, port, protocol })),
    defaultAddress: "0.0.0.0",
    autoAllocatedIPv4: "",
    autoAllocatedIPv6: "",
    clusterVips: new Map(),
    resolution: "ClientSideLB",
    meshExternal: false,
    serviceAccounts: [],
    creationTimestampMs: defaultCreationTimeMs,
    resourceVersion: "",
    origins: [{ key, file: "input.yaml", line: 1 }],
    ...rest,
    attributes: {
      provider: "Kubernetes",
      name,
      namespace,
      labels: {},
      exportTo: undefined,
      selector: undefined,
      type: "ClusterIP",
      objectName: name,
      clusterExternalAddresses: new Map(),
      clusterExternalPorts: new Map(),
      trafficDistribution: "Any",
      nodeLocal: false,
      publishNotReadyAddresses: false,
      aliases: [],
      ...attributes,
    },
  };
}

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

export interface ViewParts {
  readonly services?: readonly Service[];
  readonly virtualServices?: readonly MeshVirtualService[];
  readonly destinationRules?: readonly MeshDestinationRule[];
  readonly spec?: IstioEgressListener;
  readonly proxy?: Partial<ClassProxy>;
  readonly policy?: SidecarScope["outboundTrafficPolicy"];
  readonly sourceLabels?: Readonly<Record<string, string>>;
  readonly gateway?: RouteView["gateway"];
}

/** A view with one egress listener that imports everything. */
export function routeView(parts: ViewParts): RouteView {
  const services = parts.services ?? [];
  const virtualServices = parts.virtualServices ?? [];
  const rules = new Map((parts.destinationRules ?? []).map((rule) => [rule.config.spec.host, rule]));
  const listener: EgressListener = {
    spec: parts.spec,
    matchPort: false,
    importsEverything: true,
    services,
    virtualServices,
    virtualServiceByHost: new Map(services.flatMap((of) => mostSpecificOwner(of, virtualServices))),
  };
  return {
    key: "test",
    proxy: { ...proxy, ...parts.proxy },
    lookups: {
      mesh: defaultMeshConfig,
      domain: "cluster.local",
      serviceByHostname: () => undefined,
      servicesOfHost: () => [],
      meshNetworks: { networks: {} },
    },
    scope: {
      id: "default:default",
      namespace: "default",
      sidecar: undefined,
      egressListeners: [listener],
      services,
      serviceByHostname: new Map(services.map((of) => [of.hostname, of])),
      outboundTrafficPolicy: parts.policy ?? { mode: "ALLOW_ANY" },
      ingressListeners: [],
      destinationRules: new Map(),
    },
    destinationRule: (of) => rules.get(of.hostname),
    envoyFilters: { key: "", patches: [] },
    sourceLabels: parts.sourceLabels ?? {},
    gateway: parts.gateway,
    httpProxyPort: 0,
  };
}

function mostSpecificOwner(
  of: Service,
  virtualServices: readonly MeshVirtualService[],
): readonly (readonly [string, MeshVirtualService])[] {
  const covering = virtualServices
    .flatMap((owner) => owner.hosts.map((host) => ({ host, owner })))
    .filter(({ host }) => isSubsetHost(of.hostname, host))
    .sort((a, b) => b.host.length - a.host.length || byAge(a.owner.config, b.owner.config));
  const [first] = covering;
  return first === undefined ? [] : [[of.hostname, first.owner]];
}

/** A gateway `default/gw` whose servers share one route name. */
export function gatewayView(
  routeName: string,
  servers: readonly Gateway["servers"][number][],
  virtualServices: readonly MeshVirtualService[],
): NonNullable<RouteView["gateway"]> {
  const gateway = config<Gateway>("Gateway", "gw", "default", { servers });
  const merged: readonly GatewayServer[] = servers.map((server) => ({
    server,
    gateway,
    gatewayName: "default/gw",
    routeName,
    sniHosts: [],
  }));
  return {
    merged: {
      from: [gateway.origin.key],
      serverPorts: [],
      mergedServers: [],
      serversByRouteName: new Map([[routeName, merged]]),
      portMap: new Map(),
      containsAutoPassthrough: false,
    },
    virtualServices: () => virtualServices,
  };
}
