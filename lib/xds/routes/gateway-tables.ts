import type { RouteConfigurationJson } from "../../../gen/envoy/config/route/v3/route_pb.ts";
import type { Server } from "../../config/kinds/gateway.ts";
import { intersectHosts } from "../../config/values/host-name.ts";
import { query } from "../../incremental/query.ts";
import type { GatewayServer } from "../../mesh/gateway/merged-gateway.ts";
import type { MeshVirtualService } from "../../mesh/index/virtual-service-index.ts";
import type { GatewayRouteView, RouteView } from "../../mesh/views/views.ts";
import type { Service } from "../../registry/service.ts";
import { blackHoleHost, virtualHostName } from "../names.ts";
import type { Resource } from "../resource.ts";
import { serverHostsFor } from "./gateway-hosts.ts";
import { type GatewayHost, gatewayVirtualHosts, type RoutesAtGateway } from "./gateway-virtual-hosts.ts";
import { onlyPortOf, type RouteScope, sourceOf } from "./route-scope.ts";
import { scopedRoutes } from "./scoped-routes.ts";
import { hashRule, ruleSource, type TableContext } from "./table-context.ts";
import { emptyTable, keptTable, type VirtualHostPiece } from "./virtual-host.ts";

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
    return keptTable(table.view.key, { name, pieces }, table.memo);
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
      const part = routesOf(server, virtualService);
      if (part !== undefined) for (const host of common) addHost(hosts, server, host, part);
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
  { server }: GatewayServer,
  virtualService: MeshVirtualService,
  { memo }: TableContext,
): readonly string[] {
  const pair = { server, virtualService };
  return server.hosts.length * virtualService.hosts.length <= fewPairs ? commonHosts(pair) : manyInCommon(memo, pair);
}

interface HostLists {
  readonly server: Server;
  readonly virtualService: MeshVirtualService;
}

const manyInCommon = query("hosts in common", commonHosts);

function commonHosts({ server, virtualService }: HostLists): readonly string[] {
  const { hosts, config } = virtualService;
  return intersectHosts(serverHostsFor(server.hosts, config.meta.namespace), hosts);
}

function addHost(
  hosts: Map<string, GatewayHost>,
  gatewayServer: GatewayServer,
  written: string,
  part: RoutesAtGateway | undefined,
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
): (server: GatewayServer, virtualService: MeshVirtualService) => RoutesAtGateway | undefined {
  const made = new Map<MeshVirtualService, RoutesAtGateway[]>();
  return ({ server, gatewayName }, virtualService) => {
    const known = made.get(virtualService);
    const present = known?.find(({ gateway }) => gateway === gatewayName);
    if (present !== undefined) return present;
    const { namespace } = virtualService.config.meta;
    const scoped = scopedRoutes(virtualService, gatewayRouteScope(server, gatewayName, namespace, table), table);
    if (scoped.routes.length === 0) return undefined;
    const part = { gateway: gatewayName, scoped };
    if (known === undefined) made.set(virtualService, [part]);
    else known.push(part);
    return part;
  };
}

function gatewayRouteScope(server: Server, gateway: string, namespace: string, { view }: TableContext): RouteScope {
  const rules = ruleSource(view);
  // One host is asked about several things in turn.
  let last: { readonly host: string; readonly service: Service | undefined } | undefined;
  const service = (host: string): Service | undefined => {
    if (last?.host !== host) last = { host, service: destinationService(host, namespace, view) };
    return last.service;
  };
  return {
    port: server.port.number,
    gateway,
    terminatesTls: server.tls !== undefined,
    ...sourceOf(view.proxy.namespace, view.sourceLabels),
    externalName: (host) => service(host)?.attributes.externalName,
    onlyPort: (host) => onlyPortOf(service(host)),
    hashRule: (host) => hashRule(rules, host),
  };
}

/** The virtual service's own namespace first, if the gateway may see it; else what the gateway sees under the name. */
function destinationService(hostname: string, namespace: string, view: RouteView): Service | undefined {
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
