import type { FilterJson } from "../../../../gen/envoy/config/listener/v3/listener_components_pb.ts";
import type { RouteDestination } from "../../../config/kinds/virtual-service.ts";
import type { MeshVirtualService } from "../../../mesh/index/virtual-service-index.ts";
import type { Protocol, Service } from "../../../registry/service.ts";
import { statName, weightedTcpStatPrefix } from "../../names.ts";
import { type DestinationContext, destinationCluster } from "../../routes/destination-cluster.ts";
import { tcpChainFilters } from "../filters/network-filters.ts";
import type { ChainPlace } from "../filters/policy-filters.ts";
import { tcpProxyFilters } from "../filters/tcp-proxy.ts";
import type { ListenerContext } from "../listener-context.ts";

/** The port that a chain is made for. */
export interface ChainPort {
  readonly port: number;
  readonly name: string;
  readonly protocol: Protocol;
}

/**
 * Network filters of a chain that a `tcp` or `tls` route leads to. The destination rule is that of the first destination.
 * @returns undefined for a route without any weight
 */
export function routeFilters(
  context: ListenerContext,
  place: ChainPlace,
  port: ChainPort,
  routes: readonly RouteDestination[],
  { config }: MeshVirtualService,
): FilterJson[] | undefined {
  const { view } = context;
  const [first] = routes;
  if (first === undefined) return undefined;
  const targets: DestinationContext = { port: port.port, service: (host) => view.scope.serviceByHostname.get(host) };
  const service = view.scope.serviceByHostname.get(first.destination.host);
  const rule = service === undefined ? undefined : view.destinationRule(service)?.config.spec;
  if (routes.length === 1) {
    const { destination } = first;
    const subset = destination.subset ?? "";
    const cluster = destinationCluster(destination, targets);
    const pattern = view.lookups.mesh.outboundClusterStatName;
    const statPrefix =
      pattern === "" || service === undefined
        ? cluster
        : statName(pattern, {
            hostname: destination.host,
            subset,
            port: port.port,
            portName: port.name,
            targetPort: 0,
            service,
          });
    const terminal = tcpProxyFilters(context, place.class, {
      statPrefix,
      destination: { kind: "cluster", cluster },
      protocol: port.protocol,
      policy: { rule, subset, tunnels: true },
    });
    return tcpChainFilters(context, place, terminal);
  }
  const clusters = routes
    .filter((route) => (route.weight ?? 0) > 0)
    .map(({ destination, weight = 0 }) => ({ name: destinationCluster(destination, targets), weight }));
  if (clusters.length === 0) return undefined;
  const terminal = tcpProxyFilters(context, place.class, {
    statPrefix: weightedTcpStatPrefix(config.meta),
    destination: { kind: "weighted", clusters },
    protocol: port.protocol,
    policy: { rule, subset: "", tunnels: true },
  });
  return tcpChainFilters(context, place, terminal);
}

/** What the way to a service is made from: the service, and the rule that applies to it. */
export function servicePieces({ view }: ListenerContext, service: Service): readonly object[] {
  const rule = view.destinationRule(service);
  return rule === undefined ? [service] : [service, rule];
}

/** What the `tcp` and `tls` routes of a virtual service are made from: itself, and what they lead to. */
export function routePieces(context: ListenerContext, virtualService: MeshVirtualService): readonly object[] {
  const { tcp = [], tls = [] } = virtualService.config.spec;
  const hosts = [...tcp, ...tls].flatMap(({ route = [] }) => route.map(({ destination }) => destination.host));
  const services = [...new Set(hosts)].flatMap((host) => context.view.scope.serviceByHostname.get(host) ?? []);
  return [virtualService, ...services.flatMap((service) => servicePieces(context, service))];
}
