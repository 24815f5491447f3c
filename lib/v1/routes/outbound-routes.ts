import { byCodePoint } from "../../base/diagnostic.ts";
import { type Memo, noMemo } from "../../incremental/memo.ts";
import { query } from "../../incremental/query.ts";
import type { Labels } from "../../legacy/service-key.ts";
import { v2ClusterName } from "../clusters/cluster-name.ts";
import { type BuiltCluster, serviceCluster } from "../clusters/clusters.ts";
import { virtualServicesFor } from "../compat/v1alpha3.ts";
import { virtualServiceRoutes } from "../compat/virtual-service-routes.ts";
import { routeRulesFor } from "../config-store.ts";
import type { RouteConfig, VirtualHost } from "../documents.ts";
import type { LegacyPort, LegacyService } from "../legacy-world.ts";
import { inMemberOrder } from "../member-order.ts";
import type { RequestContext } from "../request-context.ts";
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
  requestContext: RequestContext,
  makeCluster?: ClusterOf,
  memo: Memo = noMemo,
): readonly BuiltRoute[] {
  const { world, node, here } = requestContext;
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
    const built = ruleRoute(rule, service, port, requestContext);
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
  const plain = { hostname, external, port, v2Names: requestContext.v2Names, connectTimeoutMs };
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
