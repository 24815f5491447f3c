import type { RouteJson } from "../../../gen/envoy/config/route/v3/route_components_pb.ts";
import type { RouteConfigurationJson } from "../../../gen/envoy/config/route/v3/route_pb.ts";
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
  readonly host: string;
  readonly port: number;
  readonly parts: PlacedRoutes[];
  /** One for each Gateway that has the host. */
  readonly servers: GatewayServer[];
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
      const common = hostsInCommon(server, virtualService, table);
      if (common.length === 0) continue;
      const placed = routesOf(server, virtualService);
      if (placed.routes.length > 0) for (const host of common) addHost(hosts, server, host, placed);
    }
    // A server that redirects answers for its hosts also where nobody routes them.
    if (tls?.httpsRedirect === true) for (const host of serverHosts) addHost(hosts, server, host, undefined);
  }
  if (hosts.size === 0) return [blackHole(servers[0]?.server.port.number ?? 0)];
  return collapse([...hosts.values()])
    .map((group) => groupPiece(group, table))
    .sort(byName);
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

/**
 * Hosts with equal routes share one virtual host, named after the most specific of them.
 * As in Istio, a host is compared only with the last one that had these routes.
 */
function collapse(hosts: readonly GatewayHost[]): readonly (readonly GatewayHost[])[] {
  const sorted = hosts.toSorted((a, b) => bySpecificity(a.host, b.host));
  const [first] = sorted;
  // Where one virtual service has all hosts.
  if (first !== undefined && hosts.every((host) => isLike(host, first))) return [sorted];
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
  for (const host of sorted) {
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

function isLike({ parts, requiresTls }: GatewayHost, other: GatewayHost): boolean {
  return (
    requiresTls === other.requiresTls && parts.length === 1 && other.parts.length === 1 && parts[0] === other.parts[0]
  );
}

function groupPiece(group: readonly GatewayHost[], { memo, headers }: TableContext): VirtualHostPiece {
  const [first] = group;
  if (first === undefined) throw new Error("a virtual host has at least one host");
  const { host, port, parts, requiresTls } = first;
  const servers = serversOf(group);
  const domains = group.map((member) => member.host);
  const text = `gateway host|${port}|${requiresTls}|${headers.attemptCount}|${domains.join(" ")}`;
  return memo([...parts, ...servers.map((server) => server.gateway)], text, () => {
    const name = virtualHostName(host, port);
    const json = virtualHost(name, domains, joined(parts), headers.attemptCount);
    if (requiresTls) json.requireTls = "ALL";
    const from = servers.map((server) => server.key);
    for (const part of parts) from.push(...part.from);
    return { name, json, from };
  });
}

/** One server for each Gateway of the hosts. */
function serversOf(group: readonly GatewayHost[]): readonly GatewayServer[] {
  const servers = group[0]?.servers ?? [];
  const [server] = servers;
  const shared = servers.length === 1 && group.every((host) => host.servers.length === 1 && host.servers[0] === server);
  if (shared || group.length === 1) return servers;
  const byGateway = new Map(group.flatMap(({ servers }) => servers).map((server) => [server.gateway, server]));
  return [...byGateway.values()];
}

/** The routes of several virtual services for one host, one after the other. */
function joined(parts: readonly PlacedRoutes[]): readonly RouteJson[] {
  const [only] = parts;
  // The routes of one object end with their own catch-all.
  return only !== undefined && parts.length === 1 ? only.routes : catchAllLast(parts.flatMap((part) => part.routes));
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
