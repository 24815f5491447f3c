import type { RouteJson } from "../../../gen/envoy/config/route/v3/route_components_pb.ts";
import { type Config, keyOf } from "../../config/config.ts";
import type { Gateway } from "../../config/kinds/gateway.ts";
import { query } from "../../incremental/query.ts";
import type { GatewayServer } from "../../mesh/gateway/merged-gateway.ts";
import { virtualHostName } from "../names.ts";
import type { ForwardedHeaders } from "./actions/default-route.ts";
import { bySpecificity } from "./gateway-hosts.ts";
import { isCatchAll } from "./route-match.ts";
import type { ScopedRoutes } from "./scoped-routes.ts";
import type { TableContext } from "./table-context.ts";
import { byName, type VirtualHostPiece, virtualHost } from "./virtual-host.ts";

/** Routes of a virtual service; of two Gateways they stay apart, also where they are the same. */
export interface RoutesAtGateway {
  /** `namespace/name`. */
  readonly gateway: string;
  readonly scoped: ScopedRoutes;
}

/** A host that some server has: the routes of every virtual service for it, joined in order. */
export interface GatewayHost {
  readonly host: string;
  readonly port: number;
  readonly parts: RoutesAtGateway[];
  /** One for each Gateway that has the host. */
  readonly servers: GatewayServer[];
  /** Some server of the host redirects to HTTPS. */
  requiresTls: boolean;
}

/** The virtual hosts of a gateway's table, sorted by name. */
export function gatewayVirtualHosts(hosts: readonly GatewayHost[], table: TableContext): readonly VirtualHostPiece[] {
  return collapse(hosts)
    .map((group) => groupPiece(group, table))
    .sort(byName);
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
  const identities = new Map<RoutesAtGateway, number>();
  const identityOf = (part: RoutesAtGateway): number => {
    const id = identities.get(part) ?? identities.size;
    identities.set(part, id);
    return id;
  };
  // Mostly one virtual service has the routes of a host, and stands for them itself.
  const keyOfParts = (parts: readonly RoutesAtGateway[]): RoutesAtGateway | string =>
    parts.length === 1 && parts[0] !== undefined ? parts[0] : parts.map(identityOf).join(",");
  const groups: GatewayHost[][] = [];
  const last = new Map<RoutesAtGateway | string, GatewayHost[]>();
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

function groupPiece(group: readonly GatewayHost[], { memo, settings }: TableContext): VirtualHostPiece {
  const [first] = group;
  if (first === undefined) throw new Error("a virtual host has at least one host");
  const { port, requiresTls } = first;
  const parts = first.parts.map(({ scoped }) => scoped);
  const domains = group.map((member) => member.host);
  const gateways = serversOf(group).map((server) => server.gateway);
  return gatewayHost(memo, { headers: settings.headers, parts, gateways, port, requiresTls, domains });
}

interface Inputs extends Pick<GatewayHost, "port" | "requiresTls"> {
  readonly parts: readonly ScopedRoutes[];
  readonly headers: ForwardedHeaders;
  readonly gateways: readonly Config<Gateway>[];
  /** The first gives the virtual host its name. */
  readonly domains: readonly string[];
}

const gatewayHost = query(
  "virtual host of a gateway",
  { parts: "elements", gateways: "elements", domains: "value" },
  ({ headers, parts, gateways, port, requiresTls, domains }: Inputs): VirtualHostPiece => {
    const name = virtualHostName(domains[0] ?? "", port);
    const json = virtualHost(name, domains, joined(parts), headers.attemptCount);
    if (requiresTls) json.requireTls = "ALL";
    return { name, json, from: [...gateways.map(keyOf), ...parts.flatMap((part) => part.from)] };
  },
);

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
function joined(parts: readonly ScopedRoutes[]): readonly RouteJson[] {
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
