import type { RouteJson, VirtualHostJson } from "../../../gen/envoy/config/route/v3/route_components_pb.ts";
import type { RouteConfigurationJson } from "../../../gen/envoy/config/route/v3/route_pb.ts";
import type { ConfigKey } from "../../config/diagnostic.ts";
import { sameList } from "../../mesh/identity.ts";
import type { GatewayServer, MeshVirtualService } from "../../mesh/mesh.ts";
import type { GatewayRouteView } from "../../mesh/views.ts";
import type { Service } from "../../registry/service.ts";
import type { Resource } from "../resource.ts";
import { bySpecificity, intersectHosts, serverHostsFor } from "./gateway-hosts.ts";
import { isCatchAll } from "./route-match.ts";
import { virtualHostName } from "./service-domains.ts";
import { type PlacedRoutes, placedRoutes, type TableContext } from "./table-context.ts";
import { byName, emptyTable, routeTable, type VirtualHostPiece, virtualHost } from "./virtual-host.ts";

/**
 * The route tables of a gateway, one for each route name of its servers.
 *
 * @returns in the order of `names`; an empty table for a name that no server has (any more)
 * @see xds-routes 3
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

/** A host that some server has: the routes of every virtual service for it, joined in order. */
interface GatewayHost {
  readonly name: string;
  readonly host: string;
  readonly parts: PlacedRoutes[];
  /** Keys of the Gateways, each once. */
  readonly gateways: ConfigKey[];
  /** Some server of the host redirects to HTTPS. */
  requiresTls: boolean;
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
      const common = table.memo([virtualService, server.written], "hosts in common", () =>
        intersectHosts(serverHostsFor(serverHosts, virtualService.config.meta.namespace), virtualService.hosts),
      );
      if (common.length === 0) continue;
      const placed = routesOf(server, virtualService);
      if (placed.routes.length > 0) for (const host of common) addHost(hosts, server, host, placed);
    }
    // A server that redirects answers for its hosts also where nobody routes them.
    if (tls?.httpsRedirect === true) for (const host of serverHosts) addHost(hosts, server, host, undefined);
  }
  const [first] = servers;
  if (hosts.size === 0) return [blackHole(first?.server.port.number ?? 0)];
  return collapse([...hosts.values()])
    .map((group) => groupPiece(group, table))
    .sort(byName);
}

function addHost(
  hosts: Map<string, GatewayHost>,
  { server, key }: GatewayServer,
  written: string,
  part: PlacedRoutes | undefined,
): void {
  const host = written.toLowerCase();
  const requiresTls = server.tls?.httpsRedirect === true;
  const present = hosts.get(host);
  if (present === undefined) {
    const name = virtualHostName(host, server.port.number);
    hosts.set(host, { name, host, parts: part === undefined ? [] : [part], gateways: [key], requiresTls });
    return;
  }
  if (part !== undefined) present.parts.push(part);
  if (present.gateways.at(-1) !== key) present.gateways.push(key);
  present.requiresTls ||= requiresTls;
}

/** Routes are translated once for each gateway and virtual service of a table, for the first server that yields any. */
function rememberedRoutes(
  table: TableContext,
): (server: GatewayServer, virtualService: MeshVirtualService) => PlacedRoutes {
  const made = new Map<MeshVirtualService, Map<string, PlacedRoutes>>();
  return (server, virtualService) => {
    const present = made.get(virtualService)?.get(server.gatewayName);
    if (present !== undefined) return present;
    const { namespace } = virtualService.config.meta;
    const placed = placedRoutes(
      virtualService,
      {
        port: server.server.port.number,
        gateway: server.gatewayName,
        terminatesTls: server.server.tls !== undefined,
        service: (hostname) => destinationService(hostname, namespace, table),
      },
      table,
    );
    if (placed.routes.length === 0) return placed;
    const byGateway = made.get(virtualService);
    if (byGateway === undefined) made.set(virtualService, new Map([[server.gatewayName, placed]]));
    else byGateway.set(server.gatewayName, placed);
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

/**
 * Hosts with equal routes share one virtual host, named after the most specific of them.
 * As in Istio, a host is compared only with the last one that had these routes.
 */
function collapse(hosts: readonly GatewayHost[]): readonly (readonly GatewayHost[])[] {
  const identities = new Map<PlacedRoutes, number>();
  const identityOf = (part: PlacedRoutes): number => {
    const id = identities.get(part) ?? identities.size;
    identities.set(part, id);
    return id;
  };
  // Mostly one virtual service has the routes of a host, and stands for them itself.
  const keyOfParts = (parts: readonly PlacedRoutes[]): PlacedRoutes | string =>
    parts.length === 1 && parts[0] !== undefined ? parts[0] : parts.map(identityOf).join(",");
  const groups: GatewayHost[][] = [];
  const last = new Map<PlacedRoutes | string, GatewayHost[]>();
  for (const host of hosts.length < 2 ? hosts : hosts.toSorted((a, b) => bySpecificity(a.host, b.host))) {
    const key = keyOfParts(host.parts);
    const group = last.get(key);
    if (group?.[0]?.requiresTls === host.requiresTls) {
      group.push(host);
      continue;
    }
    const opened = [host];
    last.set(key, opened);
    groups.push(opened);
  }
  return groups;
}

function groupPiece(group: readonly GatewayHost[], { memo, headers }: TableContext): VirtualHostPiece {
  const [first] = group;
  const { name = "", parts = [], requiresTls = false } = first ?? {};
  const domains = group.map((host) => host.host);
  const made = memo(parts, `gateway host|${name}|${domains.join(" ")}|${requiresTls}|${headers.attemptCount}`, () => {
    const routes = catchAllLast(parts.flatMap((part) => part.routes));
    const json: VirtualHostJson = {
      ...virtualHost(name, domains, routes, headers.attemptCount),
      ...(requiresTls ? { requireTls: "ALL" } : {}),
    };
    return { json, from: parts.flatMap((part) => part.from) };
  });
  const gateways = sameList(memo, `gateways of ${name}`, [...new Set(group.flatMap((host) => host.gateways))]);
  return memo([made, gateways], "piece", () => ({ name, json: made.json, from: [...gateways, ...made.from] }));
}

/** Several virtual services may each end with a route that takes everything: those wait behind all others. */
function catchAllLast(routes: readonly RouteJson[]): readonly RouteJson[] {
  const last = (route: RouteJson): boolean => isCatchAll(route.match ?? {});
  if (!routes.some(last)) return routes;
  return [...routes.filter((route) => !last(route)), ...routes.filter(last)];
}

/** Stands in for a table without any host, so that requests are answered with 404. */
function blackHole(port: number): VirtualHostPiece {
  const name = virtualHostName("blackhole", port);
  return { name, json: { name, domains: ["*"] }, from: [] };
}
