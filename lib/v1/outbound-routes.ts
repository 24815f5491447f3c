import { byCodePoint } from "../config/diagnostic.ts";
import { type Memo, noMemo } from "../incremental/memo.ts";
import { query } from "../incremental/query.ts";
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

/** A virtual host and what its routes bring along. */
export interface BuiltHost {
  readonly name: string;
  readonly domains: readonly string[];
  readonly routes: readonly BuiltRoute[];
}

/** Virtual hosts by port, each list sorted by name. */
export type RouteTables = ReadonlyMap<number, readonly BuiltHost[]>;

/**
 * The virtual hosts of every HTTP port of every service, as a proxy in a DNS domain sees them.
 * @see docs/how-istio-does-it/legacy-v1.md#routes
 */
export function serviceTables(asker: Asker, memo: Memo): RouteTables {
  const { world, node } = asker;
  const hosts = world.services.flatMap((service) => {
    const shared = sharedLabels(service.hostname, node.domain);
    return service.ports.flatMap((port) => {
      const routes = destinationRoutes(service, port, asker, undefined, memo);
      return routes.length === 0
        ? []
        : [{ port: port.port, host: serviceHost(memo, { service, port, routes, shared }) }];
    });
  });
  return tablesOf(hosts);
}

interface Served {
  readonly service: LegacyService;
  readonly port: LegacyPort;
  readonly routes: readonly BuiltRoute[];
  /** Labels at the end of the host that the proxy's domain has too. */
  readonly shared: number;
}

/** The same for all domains that share as much with the host: those of all namespaces but the service's own. */
const serviceHost = query(
  "virtual host of a service of the v1 API",
  { routes: "elements" },
  ({ service, port, routes, shared }: Served): BuiltHost => ({
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
  const flat = [...a, ...b].flatMap(([port, hosts]) => hosts.map((host) => ({ port, host })));
  return tablesOf(flat);
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
  const [a, b] = [host.split("."), domain.split(".")];
  let shared = 0;
  while (shared < Math.min(a.length, b.length) && a.at(-1 - shared) === b.at(-1 - shared)) shared++;
  return shared;
}

/** The document's form of a table. */
export function routeConfig(hosts: readonly BuiltHost[]): RouteConfig {
  return {
    validate_clusters: true,
    virtual_hosts: hosts.map(
      ({ name, domains, routes }): VirtualHost => ({
        name,
        domains,
        routes: routes.map(({ route }) => inMemberOrder(route)),
      }),
    ),
  };
}

/** All tables as one, for an explicit HTTP proxy: without a port in the request's host, port 80 is meant. */
export function joinedTable(tables: RouteTables): readonly BuiltHost[] {
  return [...tables]
    .flatMap(([port, hosts]) =>
      hosts.map((host) => ({
        ...host,
        domains: port === 80 ? host.domains : host.domains.filter((domain) => domain.includes(":")),
      })),
    )
    .filter((host) => host.domains.length > 0)
    .sort((a, b) => byCodePoint(a.name, b.name));
}
