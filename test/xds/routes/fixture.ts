import { byAge } from "../../../lib/config/config.ts";
import type { DestinationRule } from "../../../lib/config/kinds/destination-rule.ts";
import type { Gateway } from "../../../lib/config/kinds/gateway.ts";
import type { IstioEgressListener } from "../../../lib/config/kinds/sidecar.ts";
import type { VirtualService } from "../../../lib/config/kinds/virtual-service.ts";
import { isSubsetHost, isWildcard } from "../../../lib/config/values/host-name.ts";
import type { GatewayServer } from "../../../lib/mesh/gateway/merged-gateway.ts";
import type { MeshDestinationRule } from "../../../lib/mesh/index/destination-rule-index.ts";
import type { MeshVirtualService } from "../../../lib/mesh/index/virtual-service-index.ts";
import type { EgressListener, SidecarScope } from "../../../lib/mesh/scope/sidecar-scope.ts";
import type { ClassProxy, RouteView } from "../../../lib/mesh/views/views.ts";
import type { Protocol, Service } from "../../../lib/registry/service.ts";
import { settingsOf } from "../../mesh/plain-settings.ts";
import { service as aService, config, port, proxy, rule, scopeOf } from "../world-parts.ts";

/** Hand-built inputs of the route room: only what a test is about has to be said. */

export function virtualService(
  name: string,
  spec: Partial<VirtualService>,
  annotations: Readonly<Record<string, string>> = {},
): MeshVirtualService {
  const hosts = spec.hosts ?? ["a.default.svc.cluster.local"];
  const made = config<VirtualService>("VirtualService", name, { ...spec, hosts }, { annotations });
  return {
    config: made,
    hosts,
    hasWildcard: hosts.some(isWildcard),
    gateways: spec.gateways ?? ["mesh"],
    from: [made.origin.key],
  };
}

export const destinationRule = (spec: DestinationRule): MeshDestinationRule => rule(spec, spec.host);

/** A Kubernetes service of a host `name.namespace…` without an address, unless said otherwise. */
export function service(
  host: string,
  ports: readonly (readonly [port: number, protocol: Protocol])[],
  more: Partial<Omit<Service, "attributes">> & { readonly attributes?: Partial<Service["attributes"]> } = {},
): Service {
  const [name = "", namespace = ""] = host.split(".");
  return aService(name, {
    hostname: host,
    ports: ports.map(([number, protocol]) => port(`p${number}`, number, protocol)),
    defaultAddress: "0.0.0.0",
    ...more,
    attributes: { namespace, ...more.attributes },
  });
}

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
    virtualServiceByHost: () => new Map(services.flatMap((of) => mostSpecificOwner(of, virtualServices))),
  };
  return {
    key: () => "test",
    proxy: { ...proxy, ...parts.proxy },
    lookups: {
      mesh: settingsOf(),
      domain: "cluster.local",
      serviceByHostname: () => undefined,
      servicesOfHost: () => [],
      meshNetworks: { networks: {} },
    },
    scope: scopeOf(services, {
      egressListeners: [listener],
      outboundTrafficPolicy: parts.policy ?? { mode: "ALLOW_ANY" },
    }),
    destinationRule: (of) => rules.get(of.hostname),
    envoyFilters: { patches: [] },
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
  const gateway = config<Gateway>("Gateway", "gw", { servers });
  const merged: readonly GatewayServer[] = servers.map((server) => ({
    server,
    gateway,
    key: gateway.origin.key,
    gatewayName: "default/gw",
    routeName,
  }));
  return {
    merged: {
      from: [gateway.origin.key],
      serverPorts: [],
      mergedServers: [],
      serversByRouteName: new Map([[routeName, merged]]),
      portMap: () => new Map(),
      containsAutoPassthrough: false,
    },
    virtualServices: () => virtualServices,
  };
}
