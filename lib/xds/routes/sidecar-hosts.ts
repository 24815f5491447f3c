import type { RouteJson } from "../../../gen/envoy/config/route/v3/route_components_pb.ts";
import type { ConfigKey, Diagnostic, Origin } from "../../config/diagnostic.ts";
import { hostsOverlap, isWildcard } from "../../config/host-name.ts";
import { meshGateway } from "../../mesh/hosts/short-names.ts";
import type { MeshVirtualService } from "../../mesh/index/virtual-service-index.ts";
import type { EgressListener } from "../../mesh/scope/sidecar-scope.ts";
import type { Service } from "../../registry/service.ts";
import { bracketed, virtualHostName } from "../names.ts";
import { originKeys, provenanceOf } from "../provenance.ts";
import { defaultOutboundRoute } from "./default-route.ts";
import { serviceHash } from "./hash-policy.ts";
import { type Candidate, settledHosts } from "./host-claims.ts";
import { type PlacedRoutes, placedRoutes } from "./placed-routes.ts";
import { type Domains, serviceDomains } from "./service-domains.ts";
import type { TableContext } from "./table-context.ts";
import { type TableService, type TableServices, tableServices } from "./table-services.ts";
import { byName, type VirtualHostPiece, virtualHost } from "./virtual-host.ts";

/** The virtual hosts of one port, without the catch-all. */
export interface SidecarHosts {
  readonly pieces: readonly VirtualHostPiece[];
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * The virtual hosts that a sidecar's table of one port has: one for each host of the virtual services that apply, and one
 * with a default route for each remaining service. Names and domains are taken by who comes first.
 *
 * @param port 0: a table of all ports, for an HTTP proxy or a unix socket
 * @returns sorted by name
 * @see docs/how-istio-does-it/routes.md#hosts-of-a-sidecars-table
 */
export function sidecarHosts(listener: EgressListener, port: number, table: TableContext): SidecarHosts {
  const services = tableServices(listener.services, port, table.memo);
  const groups = listener.virtualServices
    .filter((virtualService) => port === 80 || namesSomeService(virtualService, services))
    .flatMap((virtualService) => hostGroups(virtualService, listener, services, port, table));
  const claimed = new Set(groups.flatMap((group) => group.services.map((service) => service.hostname)));
  const candidates: Candidate[] = [];
  for (const group of groups) {
    for (const host of group.plainHosts) candidates.push(plainHost(host, group, table));
    for (const service of group.services) candidates.push(serviceHost(service, group, port, table));
  }
  for (const { hostname, candidate } of defaultHosts(services, port, table)) {
    if (!claimed.has(hostname)) candidates.push(candidate);
  }
  const place = `${table.view.key}|${listener.spec?.bind ?? ""}|${port}`;
  const { pieces, diagnostics } = settledHosts(candidates, { services, port, place }, table.memo);
  return { pieces: pieces.sort(byName), diagnostics };
}

/** A virtual service on one port: the hosts that it brings, and its routes. */
interface HostGroup {
  readonly port: number;
  readonly services: readonly TableService[];
  /** Lower case. */
  readonly plainHosts: readonly string[];
  readonly placed: PlacedRoutes;
  readonly origin: Origin;
}

/** Outside port 80 a virtual service counts only if one of its hosts and a service of the table have a name in common. */
function namesSomeService(virtualService: MeshVirtualService, services: TableServices): boolean {
  return virtualService.hosts.some((written) => {
    const host = written.toLowerCase();
    if (services.byHostname.has(host)) return true;
    const candidates = isWildcard(host) ? services.hostnames : services.wildcardHosts;
    return candidates.some((candidate) => hostsOverlap(host, candidate));
  });
}

function hostGroups(
  virtualService: MeshVirtualService,
  listener: EgressListener,
  services: TableServices,
  port: number,
  table: TableContext,
): HostGroup[] {
  const place = {
    port,
    gateway: meshGateway,
    terminatesTls: false,
    service: (hostname: string) => destinationService(hostname, services, port),
  };
  const placed = placedRoutes(virtualService, place, table);
  if (placed.routes.length === 0) return [];
  const { matched, plainHosts } = splitHosts(virtualService, listener, services);
  const byPort = new Map<number, TableService[]>();
  for (const service of matched) {
    for (const { port: servicePort } of service.httpPorts) {
      const group = byPort.get(servicePort);
      if (group === undefined) byPort.set(servicePort, [service]);
      else group.push(service);
    }
  }
  // Hosts that are no service at all have a place on port 80 only.
  if (byPort.size === 0 && port === 80) byPort.set(80, []);
  const { origin } = virtualService.config;
  return [...byPort].map(([groupPort, members]) => ({
    port: groupPort,
    services: members,
    plainHosts,
    placed,
    origin,
  }));
}

/**
 * The service behind a destination, as far as it matters: in the table of one port every service has just this port,
 * so only an alias says something that the destination does not.
 */
function destinationService(
  hostname: string,
  services: TableServices,
  port: number,
): Pick<Service, "ports" | "attributes"> | undefined {
  const found = services.byHostname.get(hostname);
  if (found === undefined) return undefined;
  if (port === 0) return found.service;
  if (found.service.attributes.externalName === undefined) return undefined;
  return { ports: found.ports, attributes: found.service.attributes };
}

/**
 * Which hosts of a virtual service are services of the table, and which are only names. A service that several wildcards
 * match belongs to the virtual service with the most specific one.
 */
function splitHosts(
  virtualService: MeshVirtualService,
  listener: EgressListener,
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
    const covered = services.sorted.filter((service) => hostsOverlap(service.hostname, wildcard));
    if (covered.length === 0) plainHosts.push(wildcard);
    for (const service of covered) {
      if (listener.virtualServiceByHost.get(service.service.hostname) === virtualService) matched.push(service);
    }
  }
  return { matched: [...new Set(matched)], plainHosts };
}

function plainHost(host: string, group: HostGroup, table: TableContext): Candidate {
  const { memo, headers } = table;
  const name = virtualHostName(host, group.port);
  const made = memo([group.placed], `plain host|${name}|${headers.attemptCount}`, () => ({
    domains: { all: [bracketed(host)], keys: [bracketed(host)], derived: notDerived },
    piece: hostPiece(name, [bracketed(host)], group.placed.routes, group.placed.from, table),
  }));
  const claim = { name, domains: made.domains, port: group.port, hostname: "" };
  return { piece: made.piece, claim, origin: group.origin };
}

const notDerived = [false];

function serviceHost(service: TableService, group: HostGroup, tablePort: number, table: TableContext): Candidate {
  const domains = domainsOf(service, group.port, tablePort, table);
  const name = virtualHostName(service.hostname, group.port);
  const piece = table.memo([group.placed, domains], `${name}|${table.headers.attemptCount}`, () =>
    hostPiece(name, domains.all, group.placed.routes, [...group.placed.from, ...originKeys(service.service)], table),
  );
  return { piece, claim: { name, domains, port: group.port, hostname: service.hostname }, origin: group.origin };
}

interface DefaultHost {
  readonly hostname: string;
  readonly candidate: Candidate;
}

/**
 * What each service would have if no virtual service claimed it, in order of host names. Remembered as a whole, because
 * most changes are about other objects; the view's key tells which of the scope's rules apply to the class.
 */
function defaultHosts(services: TableServices, port: number, table: TableContext): readonly DefaultHost[] {
  const { memo, view } = table;
  return memo([services, view.scope.destinationRules], `default hosts|${view.key}|${table.key}`, () =>
    services.sorted
      .filter(({ service }) => service.resolution !== "Alias")
      .flatMap((service) =>
        service.httpPorts.map(({ port: servicePort }) => ({
          hostname: service.hostname,
          candidate: defaultHost(service, servicePort, port, table),
        })),
      ),
  );
}

function defaultHost(service: TableService, port: number, tablePort: number, table: TableContext): Candidate {
  const { memo } = table;
  const domains = domainsOf(service, port, tablePort, table);
  const rule = table.hashRule(service.service.hostname);
  const piece = memo(rule === undefined ? [domains] : [domains, rule], table.defaultKey(port), () => {
    const hash = rule && serviceHash(rule.config.spec, port);
    const route = defaultOutboundRoute(service.hostname, port, hash, table.defaultRetry);
    const from = provenanceOf(service.service, rule);
    return hostPiece(virtualHostName(service.hostname, port), domains.all, [route], from, table);
  });
  return { piece, claim: { name: piece.name, domains, port, hostname: "" }, origin: undefined };
}

function hostPiece(
  name: string,
  domains: readonly string[],
  routes: readonly RouteJson[],
  from: readonly ConfigKey[],
  table: TableContext,
): VirtualHostPiece {
  return { name, json: virtualHost(name, domains, routes, table.headers.attemptCount), from };
}

function domainsOf({ service }: TableService, port: number, tablePort: number, table: TableContext): Domains {
  const { memo, view, domainsKey } = table;
  const portSuffix = tablePort === 0 ? port : undefined;
  const name = portSuffix === undefined ? domainsKey : `${domainsKey}|${portSuffix}`;
  return memo([service], name, () => serviceDomains(service, portSuffix, view.proxy));
}
