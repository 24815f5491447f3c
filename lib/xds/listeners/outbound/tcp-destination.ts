import type { FilterJson } from "../../../../gen/envoy/config/listener/v3/listener_components_pb.ts";
import type { RouteDestination } from "../../../config/kinds/virtual-service.ts";
import type { MeshDestinationRule } from "../../../mesh/index/destination-rule-index.ts";
import type { MeshVirtualService } from "../../../mesh/index/virtual-service-index.ts";
import type { OutboundListenerView } from "../../../mesh/views/views.ts";
import type { Protocol, Service } from "../../../registry/service.ts";
import { statName, weightedTcpStatPrefix } from "../../names.ts";
import { type DestinationContext, destinationCluster } from "../../routes/actions/destination-cluster.ts";
import { onlyPortOf } from "../../routes/route-scope.ts";
import { tcpChainFilters } from "../filters/network-filters.ts";
import type { ChainTarget } from "../filters/policy-filters.ts";
import { tcpProxyFilters } from "../filters/tcp-proxy.ts";
import type { ListenerContext } from "../listener-context.ts";

/** The port that a chain is made for. */
export interface ChainPort {
  readonly port: number;
  readonly name: string;
  readonly protocol: Protocol;
}

/** Where routes lead: services of the scope by host, and the rules for them. */
export interface Destinations {
  service(host: string): Service | undefined;
  rule(host: string): MeshDestinationRule | undefined;
}

export function destinationsOf({ scope, destinationRule }: OutboundListenerView): Destinations {
  const service = (host: string): Service | undefined => scope.serviceByHostname.get(host);
  return {
    service,
    rule: (host) => {
      const found = service(host);
      return found && destinationRule(found);
    },
  };
}

/** A chain that a route may claim. */
interface RoutedChain {
  readonly context: ListenerContext;
  readonly chainTarget: ChainTarget;
  readonly port: ChainPort;
  readonly destinations: Destinations;
  /** As tcpChainFilters takes it; absent: not. */
  readonly exchanges?: boolean;
}

/**
 * Network filters of a chain that a `tcp` or `tls` route leads to. The destination rule is that of the first destination.
 * @returns undefined for a route without any weight
 */
export function routeFilters(
  { context, chainTarget, port, destinations, exchanges = false }: RoutedChain,
  routes: readonly RouteDestination[],
  { config }: MeshVirtualService,
): FilterJson[] | undefined {
  const [first] = routes;
  if (first === undefined) return undefined;
  const targets: DestinationContext = {
    port: port.port,
    externalName: (host) => destinations.service(host)?.attributes.externalName,
    onlyPort: (host) => onlyPortOf(destinations.service(host)),
  };
  const service = destinations.service(first.destination.host);
  const rule = destinations.rule(first.destination.host)?.config.spec;
  if (routes.length === 1) {
    const { destination } = first;
    const subset = destination.subset ?? "";
    const cluster = destinationCluster(destination, targets);
    const pattern = context.mesh.outboundClusterStatName;
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
    const terminal = tcpProxyFilters(context, chainTarget.class, {
      statPrefix,
      destination: { kind: "cluster", cluster },
      protocol: port.protocol,
      policy: { rule, subset, tunnels: true },
    });
    return tcpChainFilters(context, chainTarget, terminal, { exchanges });
  }
  const clusters = routes
    .filter((route) => (route.weight ?? 0) > 0)
    .map(({ destination, weight = 0 }) => ({ name: destinationCluster(destination, targets), weight }));
  if (clusters.length === 0) return undefined;
  const terminal = tcpProxyFilters(context, chainTarget.class, {
    statPrefix: weightedTcpStatPrefix(config.meta),
    destination: { kind: "weighted", clusters },
    protocol: port.protocol,
    policy: { rule, subset: "", tunnels: true },
  });
  return tcpChainFilters(context, chainTarget, terminal, { exchanges });
}
