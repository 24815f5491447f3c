import type { FilterJson } from "../../../../gen/envoy/config/listener/v3/listener_components_pb.ts";
import { hostsOverlap } from "../../../config/host-name.ts";
import type { Server } from "../../../config/kinds/gateway.ts";
import { sniHostsOf } from "../../../mesh/gateway/gateway-port.ts";
import type { GatewayServer } from "../../../mesh/gateway/merged-gateway.ts";
import type { MeshVirtualService } from "../../../mesh/index/virtual-service-index.ts";
import { parseProtocol } from "../../../registry/protocol.ts";
import { serverDownstreamContext } from "../../tls/downstream-server.ts";
import { matchAll } from "../filter-chain-match.ts";
import type { ListenerContext } from "../listener-context.ts";
import { type ChainPort, routeFilters, routePieces } from "../outbound/tcp-destination.ts";
import type { StaticMatch } from "../route-match.ts";
import { autoPassthroughChains } from "./auto-passthrough.ts";
import type { GatewayChain } from "./gateway-chain.ts";

/** SNI hosts that pass-through chains of one port have taken, each with the bind that took it last. */
export type TakenServerNames = Map<string, string>;

/**
 * Chains of a server that is not HTTP: opaque TCP, TLS that ends here, or TLS that is passed through by server name.
 * @see docs/how-istio-does-it/listeners.md#tcp-at-gateways
 */
export function gatewayTcpChains(
  context: ListenerContext,
  gatewayServer: GatewayServer,
  taken: TakenServerNames,
): readonly GatewayChain[] {
  const { server, gateway } = gatewayServer;
  if (server.tls === undefined) return tcpRouteChain(context, gatewayServer);
  const mode = server.tls.mode ?? "PASSTHROUGH";
  if (mode === "AUTO_PASSTHROUGH") return autoPassthroughChains(context, sniHostsOf(server.hosts), gateway.origin);
  if (mode === "PASSTHROUGH") return passthroughChains(context, gatewayServer, taken);
  return tcpRouteChain(context, gatewayServer);
}

/** The chain of the first `tcp` route of a virtual service that is bound to the server; none without one. */
function tcpRouteChain(context: ListenerContext, gatewayServer: GatewayServer): readonly GatewayChain[] {
  const { server, gateway, gatewayName } = gatewayServer;
  const sniHosts = sniHostsOf(server.hosts);
  const { lookups, options } = context.view;
  for (const virtualService of boundVirtualServices(context, gatewayServer)) {
    for (const tcp of virtualService.config.spec.tcp ?? []) {
      const { match = [], route = [] } = tcp;
      if (match.length > 0 && !match.some((one) => matchesServer(one, server, gatewayName))) continue;
      const from = [gateway, tcp, ...routePieces(context, virtualService)];
      const name = `gateway tcp|${JSON.stringify([server.port, server.tls, sniHosts])}`;
      const chain = context.stable(from, name, (): GatewayChain | undefined => {
        const filters = chainFilters(context, server, route, virtualService);
        if (filters === undefined) return undefined;
        const { origin } = gateway;
        if (server.tls === undefined) return { match: matchAll, tls: undefined, filters, origin };
        const tls = serverDownstreamContext(server.tls, lookups, options.tlsServerFiles, "tcp");
        return { match: { ...matchAll, sniHosts }, tls, filters, origin };
      });
      if (chain !== undefined) return [chain];
    }
  }
  return [];
}

function passthroughChains(
  context: ListenerContext,
  gatewayServer: GatewayServer,
  taken: TakenServerNames,
): readonly GatewayChain[] {
  const { server, gatewayName } = gatewayServer;
  const bind = server.bind ?? "";
  const chains: GatewayChain[] = [];
  for (const virtualService of boundVirtualServices(context, gatewayServer)) {
    for (const { match: matches = [], route = [] } of virtualService.config.spec.tls ?? []) {
      for (const match of matches) {
        if (!matchesServer(match, server, gatewayName)) continue;
        const hosts = match.sniHosts ?? [];
        // Two chains for one name: Envoy would refuse the whole listener.
        if (hosts.some((host) => taken.get(host) === bind)) {
          context.report({
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
        const from = [match, ...routePieces(context, virtualService)];
        const chain = context.stable(from, `passthrough|${JSON.stringify(server.port)}`, () => {
          const filters = chainFilters(context, server, route, virtualService);
          const { origin } = virtualService.config;
          return filters && { match: { ...matchAll, sniHosts: hosts }, tls: undefined, filters, origin };
        });
        if (chain !== undefined) chains.push(chain);
      }
    }
  }
  return chains;
}

function chainFilters(
  context: ListenerContext,
  { port }: Server,
  routes: Parameters<typeof routeFilters>[3],
  virtualService: MeshVirtualService,
): FilterJson[] | undefined {
  const chainPort: ChainPort = { port: port.number, name: port.name, protocol: parseProtocol(port.protocol) };
  return routeFilters(context, { class: "gateway", port: port.number }, chainPort, routes, virtualService);
}

/** Virtual services of the gateway with a host that the server has, seen from the namespace that it names, if any. */
function boundVirtualServices(
  { view }: ListenerContext,
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
