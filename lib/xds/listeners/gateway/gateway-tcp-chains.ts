import type { FilterJson } from "../../../../gen/envoy/config/listener/v3/listener_components_pb.ts";
import type { Origin } from "../../../base/diagnostic.ts";
import type { Server } from "../../../config/kinds/gateway.ts";
import type { TCPRoute, TLSMatchAttributes, TLSRoute } from "../../../config/kinds/virtual-service.ts";
import { hostsOverlap } from "../../../config/values/host-name.ts";
import { trackedQuery } from "../../../incremental/tracked-query.ts";
import { sniHostsOf } from "../../../mesh/gateway/gateway-port.ts";
import type { GatewayServer } from "../../../mesh/gateway/merged-gateway.ts";
import { isOfGatewayApi, type MeshVirtualService } from "../../../mesh/index/virtual-service-index.ts";
import type { ListenerView } from "../../../mesh/views/views.ts";
import { parseProtocol } from "../../../registry/protocol.ts";
import { serverDownstreamContext } from "../../tls/downstream-server.ts";
import { matchAll } from "../filter-chain-match.ts";
import { type ListenerContext, type ListenerWalk, tlsSide } from "../listener-context.ts";
import { type Destinations, destinationsOf, routeFilters } from "../outbound/tcp-destination.ts";
import type { StaticMatch } from "../route-match.ts";
import { autoPassthroughChains } from "./auto-passthrough.ts";
import type { GatewayChain } from "./gateway-chain.ts";

export type GatewayWalk = ListenerWalk<ListenerView>;

/** SNI hosts that pass-through chains of one port have taken, each with the bind that took it last. */
export type TakenServerNames = Map<string, string>;

/**
 * Chains of a server that is not HTTP: opaque TCP, TLS that ends here, or TLS that is passed through by server name.
 * @see docs/how-istio-does-it/listeners.md#tcp-at-gateways
 */
export function gatewayTcpChains(
  walk: GatewayWalk,
  gatewayServer: GatewayServer,
  taken: TakenServerNames,
): readonly GatewayChain[] {
  const { server, gateway } = gatewayServer;
  if (server.tls === undefined) return tcpRouteChain(walk, gatewayServer);
  const mode = server.tls.mode ?? "PASSTHROUGH";
  if (mode === "AUTO_PASSTHROUGH") return autoPassthroughChains(walk, sniHostsOf(server.hosts), gateway.origin);
  if (mode === "PASSTHROUGH") return passthroughChains(walk, gatewayServer, taken);
  return tcpRouteChain(walk, gatewayServer);
}

/** The chain of the first `tcp` route of a virtual service that is bound to the server; none without one. */
function tcpRouteChain({ view, context, memo }: GatewayWalk, gatewayServer: GatewayServer): readonly GatewayChain[] {
  const { server, gateway, gatewayName } = gatewayServer;
  for (const virtualService of boundVirtualServices(view, gatewayServer)) {
    for (const route of streamRoutes(virtualService)) {
      const { match } = route;
      if (match !== undefined && !match.some((one) => matchesServer(one, server, gatewayName))) continue;
      const inputs = { context, server, origin: gateway.origin, virtualService, route };
      const chain = tcpChain(memo, inputs, destinationsOf(view)).value;
      if (chain !== undefined) return [chain];
    }
  }
  return [];
}

/** Where TLS ends, a TLSRoute of the Gateway API is one of what was within; a match without entries is none at all. */
function streamRoutes({ config }: MeshVirtualService): readonly StreamRoute[] {
  const { tcp = [], tls = [] } = config.spec;
  return isOfGatewayApi(config) ? [...tcp, ...tls] : tcp;
}

interface StreamRoute extends Pick<TCPRoute, "route"> {
  readonly match?: readonly StaticMatch[];
}

interface TcpInputs {
  readonly context: ListenerContext;
  readonly server: Server;
  /** The Gateway's. */
  readonly origin: Origin;
  readonly virtualService: MeshVirtualService;
  readonly route: StreamRoute;
}

const tcpChain = trackedQuery(
  "TCP chain of a gateway",
  (inputs: TcpInputs, destinations: Destinations): GatewayChain | undefined => {
    const { context, server, origin } = inputs;
    const filters = chainFilters(inputs, destinations);
    if (filters === undefined) return undefined;
    if (server.tls === undefined) return { match: matchAll, tls: undefined, filters, origin };
    const tls = serverDownstreamContext(server.tls, tlsSide(context), "tcp");
    return { match: { ...matchAll, sniHosts: sniHostsOf(server.hosts) }, tls, filters, origin };
  },
);

function passthroughChains(
  { view, context, memo, report }: GatewayWalk,
  gatewayServer: GatewayServer,
  taken: TakenServerNames,
): readonly GatewayChain[] {
  const { server, gatewayName } = gatewayServer;
  const bind = server.bind ?? "";
  const chains: GatewayChain[] = [];
  for (const virtualService of boundVirtualServices(view, gatewayServer)) {
    for (const route of virtualService.config.spec.tls ?? []) {
      for (const match of route.match ?? []) {
        if (!matchesServer(match, server, gatewayName)) continue;
        const hosts = match.sniHosts ?? [];
        // Two chains for one name: Envoy would refuse the whole listener.
        if (hosts.some((host) => taken.get(host) === bind)) {
          report({
            code: "duplicate-sni-host",
            severity: "warning",
            origin: virtualService.config.origin,
            path: ["spec", "tls"],
            message: `${hosts.join(", ")}: another route of port ${server.port.number} of ${gatewayName} has a server name of these already`,
            hint: "give each server name to one tls route of a port",
          });
          continue;
        }
        for (const host of hosts) taken.set(host, bind);
        const inputs = { context, server, virtualService, route, match };
        const chain = passthroughChain(memo, inputs, destinationsOf(view)).value;
        if (chain !== undefined) chains.push(chain);
      }
    }
  }
  return chains;
}

interface PassthroughInputs extends Pick<TcpInputs, "context" | "server" | "virtualService"> {
  readonly route: TLSRoute;
  readonly match: TLSMatchAttributes;
}

const passthroughChain = trackedQuery(
  "pass-through chain of a gateway",
  (inputs: PassthroughInputs, destinations: Destinations): GatewayChain | undefined => {
    const { virtualService, match } = inputs;
    const filters = chainFilters(inputs, destinations);
    const { origin } = virtualService.config;
    return filters && { match: { ...matchAll, sniHosts: match.sniHosts ?? [] }, tls: undefined, filters, origin };
  },
);

function chainFilters(
  {
    context,
    server,
    virtualService,
    route,
  }: Omit<TcpInputs, "origin" | "route"> & Pick<TcpInputs | PassthroughInputs, "route">,
  destinations: Destinations,
): FilterJson[] | undefined {
  const { number, name, protocol } = server.port;
  const port = { port: number, name, protocol: parseProtocol(protocol) };
  const chainTarget = { class: "gateway", port: number } as const;
  // Only where the gateway itself takes part in the mesh's mutual TLS is a proxy at the other end.
  const exchanges = server.tls?.mode === "ISTIO_MUTUAL";
  return routeFilters({ context, chainTarget, port, destinations, exchanges }, route.route ?? [], virtualService);
}

/** Virtual services of the gateway with a host that the server has, seen from the namespace that it names, if any. */
function boundVirtualServices(
  view: ListenerView,
  { server, gatewayName }: GatewayServer,
): readonly MeshVirtualService[] {
  return (view.gateway?.virtualServices(gatewayName) ?? []).filter(({ hosts, config }) =>
    server.hosts.some((serverHost) => {
      const slash = serverHost.indexOf("/");
      if (slash !== -1 && serverHost.slice(0, slash) !== config.meta.namespace) return false;
      const wanted = serverHost.slice(slash + 1);
      return hosts.some((host) => hostsOverlap(wanted, host));
    }),
  );
}

/** Labels and namespaces of sources mean nothing at a gateway. */
function matchesServer({ port = 0, gateways = [] }: StaticMatch, server: Server, gatewayName: string): boolean {
  return (port === 0 || port === server.port.number) && (gateways.length === 0 || gateways.includes(gatewayName));
}
