import type { Origin } from "../../config/diagnostic.ts";
import { hostsOverlap, isWildcard } from "../../config/host-name.ts";
import type { Labels } from "../../config/labels.ts";
import { meshGateway } from "../../mesh/hosts/short-names.ts";
import { isOfGatewayApi, type MeshVirtualService } from "../../mesh/index/virtual-service-index.ts";
import type { Memo } from "../../mesh/memo/memo.ts";
import { step } from "../../mesh/memo/step.ts";
import type { EgressListener } from "../../mesh/scope/sidecar-scope.ts";
import type { Service } from "../../registry/service.ts";
import type { DefaultHosts } from "./default-hosts.ts";
import { type PlacedRoutes, placedRoutes } from "./placed-routes.ts";
import { onlyPortOf, type RoutePlace, sourceOf } from "./route-place.ts";
import { hashRule, type RuleSource } from "./table-context.ts";
import type { TableService, TableServices } from "./table-services.ts";

/** All that the hosts of a virtual service depend on beside it. */
export interface HostContext extends Pick<DefaultHosts, "settings" | "domains" | "services" | "port"> {
  readonly place: RoutePlace;
}

/** A virtual service on one port: the hosts that it brings, and its routes. */
export interface HostGroup {
  readonly port: number;
  readonly services: readonly TableService[];
  /** Lower case. */
  readonly plainHosts: readonly string[];
  readonly placed: PlacedRoutes;
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

/**
 * What a virtual service brings to a table, by the ports of the services that it names.
 *
 * @param byHost of its listener, where one of its hosts is a wildcard
 */
export function hostGroups(
  virtualService: MeshVirtualService,
  byHost: EgressListener["virtualServiceByHost"] | undefined,
  context: HostContext,
  memo: Memo,
): HostGroup[] {
  const { place } = context;
  const placed = placedRoutes(virtualService, place, { settings: context.settings, memo });
  if (placed.routes.length === 0) return [];
  const { matched, plainHosts } = splitHosts(virtualService, byHost, context.services);
  if (isOfGatewayApi(virtualService.config) && !isForCaller(virtualService, matched, place)) return [];
  const byPort = new Map<number, TableService[]>();
  for (const service of matched) {
    for (const { port: servicePort } of service.httpPorts) {
      const group = byPort.get(servicePort);
      if (group === undefined) byPort.set(servicePort, [service]);
      else group.push(service);
    }
  }
  // Hosts that are no service at all have a place on port 80 only.
  if (byPort.size === 0 && place.port === 80) byPort.set(80, []);
  const { origin } = virtualService.config;
  return [...byPort].map(([groupPort, members]) => ({
    port: groupPort,
    services: members,
    plainHosts,
    placed,
    origin,
  }));
}

/** Routes of the Gateway API hold for services, and for callers in the namespace of the route or of all services of its own. */
function isForCaller(
  { config }: MeshVirtualService,
  matched: readonly TableService[],
  { sourceNamespace }: RoutePlace,
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
export const sidecarPlace = step(
  "place of a sidecar's table",
  {
    services: "identity",
    serviceByHostname: "identity",
    destinationRule: "identity",
    port: "value",
    labels: "value",
    caller: "value",
  },
  ({ services, port, labels, caller, ...rules }: SidecarPlace): RoutePlace => {
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
): { readonly matched: readonly TableService[]; readonly plainHosts: readonly string[] } {
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
