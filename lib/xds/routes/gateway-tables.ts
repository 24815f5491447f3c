import type { RouteConfigurationJson } from "../../../gen/envoy/config/route/v3/route_pb.ts";
import type { GatewayServer } from "../../mesh/gateway/merged-gateway.ts";
import type { MeshVirtualService } from "../../mesh/index/virtual-service-index.ts";
import { sameList } from "../../mesh/memo/same.ts";
import type { GatewayRouteView } from "../../mesh/views/views.ts";
import type { Service } from "../../registry/service.ts";
import { blackHoleHost, virtualHostName } from "../names.ts";
import type { Resource } from "../resource.ts";
import { intersectHosts, serverHostsFor } from "./gateway-hosts.ts";
import { type GatewayHost, gatewayVirtualHosts } from "./gateway-virtual-hosts.ts";
import { type PlacedRoutes, placedRoutes } from "./placed-routes.ts";
import type { TableContext } from "./table-context.ts";
import { emptyTable, routeTable, type VirtualHostPiece } from "./virtual-host.ts";

/**
 * The route tables of a gateway, one for each route name of its servers.
 *
 * @returns in the order of `names`; an empty table for a name that no server has (any more)
 * @see docs/how-istio-does-it/routes.md#hosts-of-a-gateways-table
 */
export function gatewayTables(
  names: readonly string[],
  gateway: GatewayRouteView | undefined,
  table: TableContext,
): readonly Resource<RouteConfigurationJson>[] {
  return names.map((name) => {
    const servers = gateway?.merged.serversByRouteName.get(name) ?? [];
    if (gateway === undefined || servers.length === 0) return emptyTable(name);
    const pieces = gatewayPieces(servers, gateway, table);
    const same = sameList(table.memo, `gateway table|${table.view.key}|${name}`, pieces);
    return table.memo([same], `route table|${name}`, () => routeTable(name, same));
  });
}

function gatewayPieces(
  servers: readonly GatewayServer[],
  gateway: GatewayRouteView,
  table: TableContext,
): readonly VirtualHostPiece[] {
  const hosts = new Map<string, GatewayHost>();
  const routesOf = rememberedRoutes(table);
  for (const server of servers) {
    const { hosts: serverHosts, tls } = server.server;
    for (const virtualService of gateway.virtualServices(server.gatewayName)) {
      const common = hostsInCommon(server, virtualService, table);
      if (common.length === 0) continue;
      const placed = routesOf(server, virtualService);
      if (placed.routes.length > 0) for (const host of common) addHost(hosts, server, host, placed);
    }
    // A server that redirects answers for its hosts also where nobody routes them.
    if (tls?.httpsRedirect === true) for (const host of serverHosts) addHost(hosts, server, host, undefined);
  }
  if (hosts.size === 0) return [blackHole(servers[0]?.server.port.number ?? 0)];
  return gatewayVirtualHosts([...hosts.values()], table);
}

/** Pairs of hosts that are compared again for each change rather than remembered. */
const fewPairs = 64;

function hostsInCommon(
  { server, written }: GatewayServer,
  virtualService: MeshVirtualService,
  { memo }: TableContext,
): readonly string[] {
  const { hosts, config } = virtualService;
  const common = () => intersectHosts(serverHostsFor(server.hosts, config.meta.namespace), hosts);
  return server.hosts.length * hosts.length <= fewPairs
    ? common()
    : memo([virtualService, written], "hosts in common", common);
}

function addHost(
  hosts: Map<string, GatewayHost>,
  gatewayServer: GatewayServer,
  written: string,
  part: PlacedRoutes | undefined,
): void {
  const { server, gateway } = gatewayServer;
  const host = written.toLowerCase();
  const requiresTls = server.tls?.httpsRedirect === true;
  const present = hosts.get(host);
  if (present === undefined) {
    hosts.set(host, {
      host,
      port: server.port.number,
      parts: part === undefined ? [] : [part],
      servers: [gatewayServer],
      requiresTls,
    });
    return;
  }
  if (part !== undefined) present.parts.push(part);
  if (present.servers.at(-1)?.gateway !== gateway) present.servers.push(gatewayServer);
  present.requiresTls ||= requiresTls;
}

/** Routes are translated once for each gateway and virtual service of a table, for the first server that yields any. */
function rememberedRoutes(
  table: TableContext,
): (server: GatewayServer, virtualService: MeshVirtualService) => PlacedRoutes {
  const made = new Map<MeshVirtualService, { readonly gateway: string; readonly placed: PlacedRoutes }[]>();
  return ({ server, gatewayName }, virtualService) => {
    const known = made.get(virtualService);
    const present = known?.find(({ gateway }) => gateway === gatewayName);
    if (present !== undefined) return present.placed;
    const { namespace } = virtualService.config.meta;
    const placed = placedRoutes(
      virtualService,
      {
        port: server.port.number,
        gateway: gatewayName,
        terminatesTls: server.tls !== undefined,
        service: (hostname) => destinationService(hostname, namespace, table),
      },
      table,
    );
    if (placed.routes.length === 0) return placed;
    const entry = { gateway: gatewayName, placed };
    if (known === undefined) made.set(virtualService, [entry]);
    else known.push(entry);
    return placed;
  };
}

/** The virtual service's own namespace first, if the gateway may see it; else what the gateway sees under the name. */
function destinationService(hostname: string, namespace: string, { view }: TableContext): Service | undefined {
  const inScope = view.scope.serviceByHostname.get(hostname);
  if (inScope === undefined || inScope.attributes.namespace === namespace) return inScope;
  const own = view.lookups.serviceByHostname(hostname, namespace);
  const visible = own?.attributes.namespace === namespace && view.scope.services.includes(own);
  return visible ? own : inScope;
}

/** Stands in for a table without any host, so that requests are answered with 404. */
function blackHole(port: number): VirtualHostPiece {
  const name = virtualHostName(blackHoleHost, port);
  return { name, json: { name, domains: ["*"] }, from: [] };
}
