import type { Origin } from "../../base/diagnostic.ts";
import { hostsOverlap, isWildcard } from "../../config/values/host-name.ts";
import type { Labels } from "../../config/values/labels.ts";
import type { Memo } from "../../incremental/memo.ts";
import { query } from "../../incremental/query.ts";
import { meshGateway } from "../../mesh/hosts/short-names.ts";
import { isOfGatewayApi, type MeshVirtualService } from "../../mesh/index/virtual-service-index.ts";
import type { EgressListener } from "../../mesh/scope/sidecar-scope.ts";
import type { Service } from "../../registry/service.ts";
import type { DefaultHosts } from "./default-hosts.ts";
import { onlyPortOf, type RouteScope, sourceOf } from "./route-scope.ts";
import type { ScopedRoutes } from "./scoped-routes.ts";
import { hashRule, type RuleSource } from "./table-context.ts";
import type { TableService, TableServices } from "./table-services.ts";

/** All that the hosts of a virtual service depend on beside it. */
export interface HostContext extends Pick<DefaultHosts, "settings" | "domains" | "services" | "port"> {
  readonly routeScope: RouteScope;
}

/** A virtual service on one port: the hosts that it brings, and its routes. */
export interface HostGroup {
  readonly port: number;
  readonly services: readonly TableService[];
  /** Lower case. */
  readonly plainHosts: readonly string[];
  readonly scoped: ScopedRoutes;
  readonly origin: Origin;
}

/** Outside port 80 a virtual service counts only if one of its hosts and a service of the table have a name in common. */
export function namesSomeService(virtualService: MeshVirtualService, services: TableServices): boolean {
  return virtualService.hosts.some((written) => {
    const host = written.toLowerCase();
    if (services.byHostname.has(host)) return true;
    const candidates = isWildcard(host) ? services.hostnames : services.wildcardHosts;
    return candidates.some((candidate) => hostsOverlap(host, candidate));
  });
}

/** The hosts of a virtual service, by what they are in a table. */
export interface NamedHosts {
  readonly matched: readonly TableService[];
  /** Lower case: no services. */
  readonly plainHosts: readonly string[];
}

/**
 * What the hosts of a virtual service are in a table.
 *
 * @param byHost of its listener, where one of its hosts is a wildcard
 * @returns undefined where it is not for this caller
 */
export function namedHosts(
  virtualService: MeshVirtualService,
  byHost: EgressListener["virtualServiceByHost"] | undefined,
  { services, routeScope }: Pick<HostContext, "services" | "routeScope">,
  memo: Memo,
): NamedHosts | undefined {
  const isOfRoute = isOfGatewayApi(virtualService.config);
  if (byHost === undefined && !isOfRoute) return namedAlike(memo, { virtualService, services });
  const named = splitHosts(virtualService, byHost, services);
  return isOfRoute && !isForCaller(virtualService, named.matched, routeScope) ? undefined : named;
}

/** For all callers alike. */
const namedAlike = query(
  "services that a virtual service names",
  ({ virtualService, services }: { readonly virtualService: MeshVirtualService; readonly services: TableServices }) =>
    splitHosts(virtualService, undefined, services),
);

/** What a virtual service brings to a table, by the ports of the services that it names. */
export function hostGroups(
  { config: { origin } }: MeshVirtualService,
  { matched, plainHosts }: NamedHosts,
  scoped: ScopedRoutes,
  tablePort: number,
): readonly HostGroup[] {
  const byPort = new Map<number, TableService[]>();
  for (const service of matched) {
    for (const { port: servicePort } of service.httpPorts) {
      const group = byPort.get(servicePort);
      if (group === undefined) byPort.set(servicePort, [service]);
      else group.push(service);
    }
  }
  // Hosts that are no service at all have a place on port 80 only.
  if (byPort.size === 0 && tablePort === 80) byPort.set(80, []);
  return [...byPort].map(([port, services]) => ({ port, services, plainHosts, scoped, origin }));
}

/** Routes of the Gateway API hold for services, and for callers in the namespace of the route or of all services of its own. */
function isForCaller(
  { config }: MeshVirtualService,
  matched: readonly TableService[],
  { sourceNamespace }: RouteScope,
): boolean {
  const { namespace } = config.meta;
  return matched.some(({ service }) => service.attributes.namespace === namespace || sourceNamespace === namespace);
}

interface SidecarPlace extends RuleSource, Pick<DefaultHosts, "services" | "port"> {
  /** Of the caller, as far as somebody may match them. */
  readonly labels: Labels;
  /** The caller's namespace. */
  readonly caller: string;
}

/**
 * Where all virtual services of a table are written. In the table of one port every service has just this port, so only a table of
 * all ports asks which one it has.
 */
export const sidecarRouteScope = query(
  "place of a sidecar's table",
  { labels: "value" },
  ({ services, port, labels, caller, ...rules }: SidecarPlace): RouteScope => {
    const service = (host: string): Service | undefined => services.byHostname.get(host)?.service;
    return {
      port,
      gateway: meshGateway,
      terminatesTls: false,
      ...sourceOf(caller, labels),
      externalName: (host) => service(host)?.attributes.externalName,
      onlyPort: port === 0 ? (host) => onlyPortOf(service(host)) : () => undefined,
      hashRule: (host) => hashRule(rules, host),
    };
  },
);

/**
 * Which hosts of a virtual service are services of the table, and which are only names. A service that several wildcards
 * match belongs to the virtual service with the most specific one.
 */
function splitHosts(
  virtualService: MeshVirtualService,
  byHost: EgressListener["virtualServiceByHost"] | undefined,
  services: TableServices,
): NamedHosts {
  const hosts = virtualService.hosts.map((host) => host.toLowerCase());
  const matched: TableService[] = [];
  const plainHosts: string[] = [];
  for (const host of hosts.filter((exact) => !isWildcard(exact))) {
    const service = services.byHostname.get(host);
    if (service === undefined) plainHosts.push(host);
    else matched.push(service);
  }
  for (const wildcard of hosts.filter(isWildcard)) {
    if (isOfGatewayApi(virtualService.config)) {
      plainHosts.push(wildcard);
      continue;
    }
    const covered = services.sorted.filter((service) => hostsOverlap(service.hostname, wildcard));
    if (covered.length === 0) plainHosts.push(wildcard);
    for (const service of covered) {
      if (byHost?.().get(service.service.hostname) === virtualService) matched.push(service);
    }
  }
  return { matched: [...new Set(matched)], plainHosts };
}
