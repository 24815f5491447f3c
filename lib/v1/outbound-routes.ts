import { byCodePoint } from "../config/diagnostic.ts";
import { type Memo, noMemo } from "../incremental/memo.ts";
import { query } from "../incremental/query.ts";
import { trackedQuery } from "../incremental/tracked-query.ts";
import type { NodeId } from "../snapshot/legacy/node-id.ts";
import { type Labels, serviceKey } from "../snapshot/legacy/service-key.ts";
import type { Asker } from "./asker.ts";
import { v2ClusterName } from "./cluster-name.ts";
import { type BuiltCluster, serviceCluster } from "./clusters.ts";
import { virtualServicesFor } from "./compat/v1alpha3.ts";
import { virtualServiceRoutes } from "./compat/virtual-service-routes.ts";
import { routeRulesFor } from "./config-store.ts";
import type { RouteConfig, VirtualHost } from "./documents.ts";
import type { LegacyPort, LegacyService } from "./legacy-world.ts";
import { inMemberOrder } from "./member-order.ts";
import { isCatchAll } from "./route-match.ts";
import { type BuiltRoute, defaultRoute, ruleRoute } from "./rule-route.ts";
import type { RunsHere } from "./runs-here.ts";

/** A virtual host and what its routes bring along. */
export interface BuiltHost {
  readonly name: string;
  readonly domains: readonly string[];
  readonly routes: readonly BuiltRoute[];
}

/** Virtual hosts by port, each list sorted by name. */
export type RouteTables = ReadonlyMap<number, readonly BuiltHost[]>;

/**
 * The virtual hosts of every HTTP port of every service, as a proxy in a DNS domain sees them. Those outside the domain are the objects
 * that the tables of its parent domain have.
 * @see docs/how-istio-does-it/legacy-v1.md#routes
 */
export function serviceTables({ here, ...asker }: Asker, memo: Memo): RouteTables {
  const { domain } = asker.node;
  const { value: routed } = routedPorts(memo, { ...asker, node: routingNode(asker) }, here);
  const parent = tablesIn(memo, { routed, domain: parentDomain(domain) });
  const within = placesByDomain(memo, { routed }).get(domain);
  const tables = [...routed].map(([port, list]) => {
    const hosts = [...(parent.get(port) ?? [])];
    for (const at of within?.get(port) ?? []) {
      const one = list[at];
      if (one !== undefined) hosts[at] = hostIn(memo, one, domain);
    }
    return [port, hosts] as const;
  });
  return new Map(tables);
}

/** By domain and port, the places of services in it. A service is in all domains that its host name ends with. */
const placesByDomain = query(
  "services by domain of the v1 API",
  ({ routed }: { readonly routed: RoutedTables }): ReadonlyMap<string, ReadonlyMap<number, readonly number[]>> => {
    const byDomain = new Map<string, Map<number, number[]>>();
    for (const [port, list] of routed) {
      for (const [at, { service }] of list.entries()) {
        const labels = service.hostname.split(".");
        for (const from of labels.keys()) {
          const domain = labels.slice(from).join(".");
          const byPort = byDomain.get(domain) ?? new Map<number, number[]>();
          byDomain.set(domain, byPort);
          const places = byPort.get(port);
          if (places === undefined) byPort.set(port, [at]);
          else places.push(at);
        }
      }
    }
    return byDomain;
  },
);

/** What follows the first label. */
export const parentDomain = (domain: string): string => domain.slice(domain.indexOf(".") + 1);

const tablesIn = query(
  "tables of a domain of the v1 API",
  ({ routed, domain }: { readonly routed: RoutedTables; readonly domain: string }, memo: Memo): RouteTables =>
    new Map([...routed].map(([port, list]) => [port, list.map((one) => hostIn(memo, one, domain))])),
);

const hostIn = (memo: Memo, routed: RoutedPort, domain: string): BuiltHost =>
  serviceHost(memo, { routed, shared: sharedLabels(routed.service.hostname, domain) });

/** The node as routes and clusters read it: its domain was looked at for VirtualServices only. */
export const routingNode = ({ world, node }: Pick<Asker, "world" | "node">): NodeId =>
  world.v1alpha3 === undefined ? { ...node, domain: "" } : node;

/** A port of a service that carries HTTP. */
interface RoutedPort {
  readonly service: LegacyService;
  readonly port: LegacyPort;
  readonly routes: readonly BuiltRoute[];
}

/** Routed ports by number, each list in the order of the hosts' names. */
type RoutedTables = ReadonlyMap<number, readonly RoutedPort[]>;

/** The same for the proxies of all namespaces. */
const routedPorts = trackedQuery(
  "routes to services of the v1 API",
  { node: "value" },
  (asker: Omit<Asker, "here">, here: RunsHere, memo: Memo): RoutedTables => {
    const all = asker.world.services.flatMap((service) =>
      service.ports.flatMap((port) => {
        const routes = destinationRoutes(service, port, { ...asker, here }, undefined, memo);
        const name = serviceKey(service.hostname, [port.name]);
        return routes.length === 0 ? [] : [{ name, routed: routedPort(memo, { service, port, routes }) }];
      }),
    );
    const sorted = all.sort((a, b) => byCodePoint(a.name, b.name)).map(({ routed }) => routed);
    return new Map([...Map.groupBy(sorted, ({ port }) => port.port)].sort(([a], [b]) => a - b));
  },
);

const routedPort = query(
  "routes to a port of a service of the v1 API",
  { routes: "elements" },
  (routed: RoutedPort): RoutedPort => routed,
);

interface Served {
  readonly routed: RoutedPort;
  /** Labels at the end of the host that the proxy's domain has too. */
  readonly shared: number;
}

/** The same for all domains that share as much with the host: those of all namespaces but the service's own. */
const serviceHost = query(
  "virtual host of a service of the v1 API",
  ({ routed: { service, port, routes }, shared }: Served): BuiltHost => ({
    name: serviceKey(service.hostname, [port.name]),
    domains: serviceDomains(service, port.port, shared),
    routes,
  }),
);

/** Groups hosts by their port. */
export function tablesOf(hosts: readonly { readonly port: number; readonly host: BuiltHost }[]): RouteTables {
  const tables = new Map<number, BuiltHost[]>();
  for (const { port, host } of hosts) {
    const table = tables.get(port);
    if (table === undefined) tables.set(port, [host]);
    else table.push(host);
  }
  for (const table of tables.values()) table.sort((a, b) => byCodePoint(a.name, b.name));
  return new Map([...tables].sort(([a], [b]) => a - b));
}

/** Two sets of tables as one. */
export function mergeTables(a: RouteTables, b: RouteTables): RouteTables {
  const ports = [...new Set([...a.keys(), ...b.keys()])].sort((one, other) => one - other);
  return new Map(
    ports.map((port) => {
      const [first = [], second = []] = [a.get(port), b.get(port)];
      if (second.length === 0) return [port, first];
      return [port, [...first, ...second].sort((one, other) => byCodePoint(one.name, other.name))];
    }),
  );
}

/** Makes the cluster of a host for one port. */
export type ClusterOf = (hostname: string, labels: Labels | undefined) => BuiltCluster;

/**
 * The routes to a port of a service: those of its rules (behind them those of virtual services, where they count) up to a
 * rule that takes everything, else the default route behind them. Empty for ports that carry no HTTP.
 *
 * @param makeCluster for destinations that are no services of the mesh
 * @param memo gives ports that no rule is about one route for all proxies
 */
export function destinationRoutes(
  service: Pick<LegacyService, "hostname" | "external">,
  port: LegacyPort,
  asker: Asker,
  makeCluster?: ClusterOf,
  memo: Memo = noMemo,
): readonly BuiltRoute[] {
  const { world, node, here } = asker;
  const clusterOf: ClusterOf =
    makeCluster ??
    ((hostname, labels) => serviceCluster(hostname, port, labels, service.external, world.mesh.connectTimeoutMs));
  switch (port.protocol) {
    case "HTTP":
    case "HTTP2":
    case "GRPC":
      break;
    case "HTTPS":
      return service.external ? [defaultRoute(clusterOf(service.hostname, undefined))] : [];
    default:
      return [];
  }
  const routes: BuiltRoute[] = [];
  const rules = routeRulesFor(world.configs, service.hostname, here);
  for (const rule of rules) {
    const built = ruleRoute(rule, service, port, asker);
    routes.push(built);
    if (isCatchAll(built.route)) return routes;
  }
  const { v1alpha3: configs } = world;
  for (const virtualService of virtualServicesFor(configs, service.hostname, node.domain)) {
    if (configs === undefined) break;
    const built = virtualServiceRoutes(virtualService, {
      configs,
      here,
      domain: node.domain,
      cluster: clusterOf,
    });
    routes.push(...built);
    if (built.some(({ route }) => isCatchAll(route))) return routes;
  }
  const { hostname, external } = service;
  const { connectTimeoutMs } = world.mesh;
  const plain = { hostname, external, port, v2Names: asker.v2Names, connectTimeoutMs };
  return [
    ...routes,
    makeCluster === undefined ? plainRoute(memo, plain) : routeTo(makeCluster(hostname, undefined), plain),
  ];
}

interface Destination {
  readonly hostname: string;
  readonly external: boolean;
  readonly port: LegacyPort;
  readonly v2Names: boolean;
  readonly connectTimeoutMs: number;
}

/** The route to a port of a service that no rule takes. */
const plainRoute = query(
  "default route of the v1 API",
  (to: Destination): BuiltRoute =>
    routeTo(serviceCluster(to.hostname, to.port, undefined, to.external, to.connectTimeoutMs), to),
);

const routeTo = (
  own: BuiltCluster,
  { hostname, port, v2Names }: Pick<Destination, "hostname" | "port" | "v2Names">,
): BuiltRoute => defaultRoute(own, v2Names ? v2ClusterName(hostname, port.port) : own.cluster.name);

/**
 * Names under which a service is asked for, each with its port and without: the part of the host that is left of what it
 * shares with the proxy's domain, then one label more at a time, last the address.
 *
 * @param shared labels that it shares
 */
export function serviceDomains(
  service: Pick<LegacyService, "hostname" | "address">,
  port: number,
  shared: number,
): readonly string[] {
  const labels = service.hostname.split(".");
  const unique = labels.length - shared;
  const hosts = labels
    .map((_, index) => labels.slice(0, index + 1).join("."))
    .filter((_, index) => index + 1 >= Math.max(unique, 1));
  const names = service.address === "" ? hosts : [...hosts, service.address];
  return names.flatMap((name) => [`${name}:${port}`, name]);
}

/** How many labels a host and a domain have in common at their end. */
export function sharedLabels(host: string, domain: string): number {
  let shared = 0;
  // Counted from the end, a character at a time: it is done for each service and each domain.
  for (let back = 1; ; back += 1) {
    const code = codeFromEnd(host, back);
    if (code !== codeFromEnd(domain, back)) return shared;
    if (code === dot) shared += 1;
    if (back > Math.min(host.length, domain.length)) return shared;
  }
}

const dot = ".".charCodeAt(0);

/** The character so far from the end; a dot in front of the first one. */
const codeFromEnd = (name: string, back: number): number =>
  back > name.length ? dot : name.charCodeAt(name.length - back);

/** The document's form of a table. */
export const routeConfig = (hosts: readonly BuiltHost[]): RouteConfig => ({
  validate_clusters: true,
  virtual_hosts: hosts.map(virtualHost),
});

/** The document's form of a virtual host. */
export const virtualHost = ({ name, domains, routes }: BuiltHost): VirtualHost => ({
  name,
  domains,
  routes: routes.map(({ route }) => inMemberOrder(route)),
});

/** All tables as one, for an explicit HTTP proxy. */
export interface JoinedTable {
  /** Each with its port and in the form that its own table has. */
  readonly origins: readonly { readonly port: number; readonly host: BuiltHost }[];
  readonly hosts: readonly BuiltHost[];
}

/** Without a port in the request's host, port 80 is meant. */
export function joinedTable(tables: RouteTables, memo: Memo): JoinedTable {
  const all = [...tables].flatMap(([port, hosts]) => hosts.map((host) => ({ port, host })));
  const named = all.filter(({ port, host }) => port === 80 || host.domains.some((domain) => domain.includes(":")));
  const origins = named.sort((a, b) => byCodePoint(a.host.name, b.host.name));
  return { origins, hosts: origins.map(({ port, host }) => joinedHost(memo, port, host)) };
}

/**
 * The same of tables that have most of their hosts, as objects and in their places, from others.
 *
 * @param parent the others, and these as one
 */
export function joinedAs(
  tables: RouteTables,
  parent: { readonly tables: RouteTables; readonly joined: JoinedTable },
  memo: Memo,
): JoinedTable {
  const replaced = new Map<BuiltHost, BuiltHost>();
  for (const [port, hosts] of tables) {
    const before = parent.tables.get(port) ?? [];
    if (before.length !== hosts.length) return joinedTable(tables, memo);
    for (const [at, host] of hosts.entries()) {
      const other = before[at];
      if (other === host) continue;
      if (other?.name !== host.name) return joinedTable(tables, memo);
      replaced.set(other, host);
    }
  }
  if (tables.size !== parent.tables.size) return joinedTable(tables, memo);
  const origins = parent.joined.origins.map((origin) => {
    const host = replaced.get(origin.host);
    return host === undefined ? origin : { ...origin, host };
  });
  const hosts = origins.map((origin, at) => {
    const known = origin === parent.joined.origins[at] ? parent.joined.hosts[at] : undefined;
    return known ?? joinedHost(memo, origin.port, origin.host);
  });
  return { origins, hosts };
}

const joinedHost = (memo: Memo, port: number, host: BuiltHost): BuiltHost =>
  port === 80 ? host : withPorts(memo, { host });

/** A virtual host for requests that name its port. */
const withPorts = query(
  "virtual host with ports of the v1 API",
  ({ host }: { readonly host: BuiltHost }): BuiltHost => ({
    ...host,
    domains: host.domains.filter((domain) => domain.includes(":")),
  }),
);
