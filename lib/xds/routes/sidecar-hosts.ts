import type { RouteJson } from "../../../gen/envoy/config/route/v3/route_components_pb.ts";
import type { ConfigKey, Diagnostic, Origin } from "../../config/diagnostic.ts";
import { hostsOverlap, isWildcard } from "../../config/host-name.ts";
import type { Labels } from "../../config/labels.ts";
import { meshGateway } from "../../mesh/hosts/short-names.ts";
import type { MeshDestinationRule } from "../../mesh/index/destination-rule-index.ts";
import { isOfGatewayApi, type MeshVirtualService } from "../../mesh/index/virtual-service-index.ts";
import type { Memo } from "../../mesh/memo/memo.ts";
import { pass } from "../../mesh/memo/pass.ts";
import { step } from "../../mesh/memo/step.ts";
import type { EgressListener } from "../../mesh/scope/sidecar-scope.ts";
import type { Service } from "../../registry/service.ts";
import { bracketed, virtualHostName } from "../names.ts";
import { originKeys, provenanceOf } from "../provenance.ts";
import { defaultOutboundRoute, type ForwardedHeaders } from "./default-route.ts";
import { serviceHash } from "./hash-policy.ts";
import { type Candidate, settledHosts } from "./host-claims.ts";
import { type PlacedRoutes, placedRoutes } from "./placed-routes.ts";
import { onlyPortOf, type RoutePlace } from "./route-place.ts";
import { type DomainPerspective, makeDomains, type ServiceDomains, seenAs, serviceDomains } from "./service-domains.ts";
import { hashRule, type RuleSource, ruleSource, type TableContext, type TableSettings } from "./table-context.ts";
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
  const services = tableServices(table.memo, {
    services: listener.services,
    port,
    namesPorts: table.settings.proxyless,
  });
  const { memo, settings, domains, view } = table;
  const slot = `${settings.proxyless ? "grpc|" : ""}${view.key}|${listener.spec?.bind ?? ""}|${port}`;
  const rules = ruleSource(view);
  const { virtualServiceByHost } = listener;
  const context = {
    settings,
    domains,
    ...rules,
    services,
    port,
    labels: view.sourceLabels,
    caller: view.proxy.namespace,
  };
  const brought = hostsOfVirtualServices(memo, slot, listener.virtualServices, context, ({ hosts }) =>
    hosts.some(isWildcard) ? virtualServiceByHost : undefined,
  );
  const claimed = new Set<string>();
  const candidates: Candidate[] = [];
  for (const { hostnames, hosts } of brought) {
    for (const hostname of hostnames) claimed.add(hostname);
    for (const host of hosts) candidates.push(host);
  }
  for (const { hostname, candidate } of defaultHosts(memo, { settings, domains, ...rules, services, port })) {
    if (!claimed.has(hostname)) candidates.push(candidate);
  }
  const { pieces, diagnostics } = settledHosts(candidates, { services, port, slot }, memo);
  return { pieces: pieces.sort(byName), diagnostics };
}

/** All that the hosts of a virtual service depend on beside it. */
interface HostContext extends RuleSource, Pick<TableContext, "settings" | "domains"> {
  readonly services: TableServices;
  /** Of the table. */
  readonly port: number;
  /** Of the caller, as far as somebody may match them. */
  readonly labels: Labels;
  /** The caller's namespace. */
  readonly caller: string;
}

/** What one virtual service brings to a table. */
interface BroughtHosts {
  /** Services for which it stands. */
  readonly hostnames: readonly string[];
  readonly hosts: readonly Candidate[];
}

const noHosts: BroughtHosts = { hostnames: [], hosts: [] };

/**
 * The hosts of all virtual services of a table. Those of one that is what it was are found by where it stands: with the mesh both
 * the tables and the virtual services of each become more.
 */
const hostsOfVirtualServices = pass(
  "virtual hosts of virtual services",
  {
    settings: "identity",
    domains: "identity",
    services: "identity",
    serviceByHostname: "identity",
    destinationRule: "identity",
    port: "value",
    labels: "value",
    caller: "value",
  },
  (
    virtualService: MeshVirtualService,
    byHost: EgressListener["virtualServiceByHost"] | undefined,
    context: HostContext,
    memo: Memo,
  ): BroughtHosts => {
    if (context.port !== 80 && !namesSomeService(virtualService, context.services)) return noHosts;
    const groups = hostGroups(virtualService, byHost, context, memo);
    if (groups.length === 0) return noHosts;
    return {
      hostnames: groups.flatMap(({ services }) => services.map(({ hostname }) => hostname)),
      hosts: groups.flatMap((group) => [
        ...group.plainHosts.map((host) => plainHost(host, group, context, memo)),
        ...group.services.map((service) => serviceHost(service, group, context, memo)),
      ]),
    };
  },
);

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
  byHost: EgressListener["virtualServiceByHost"] | undefined,
  context: HostContext,
  memo: Memo,
): HostGroup[] {
  const place = sidecarPlace(context, memo);
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

/** In the table of one port every service has just this port, so only a table of all ports asks which one it has. */
function sidecarPlace({ services, port, labels, caller, ...rules }: HostContext, memo: Memo): RoutePlace {
  const service = (host: string): Service | undefined => services.byHostname.get(host)?.service;
  return {
    port,
    gateway: meshGateway,
    terminatesTls: false,
    sourceNamespace: caller,
    sourceLabel: (key) => labels[key],
    externalName: (host) => service(host)?.attributes.externalName,
    onlyPort: port === 0 ? (host) => onlyPortOf(service(host)) : () => undefined,
    hashRule: (host) => hashRule(rules, host, memo),
  };
}

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
      if (byHost?.get(service.service.hostname) === virtualService) matched.push(service);
    }
  }
  return { matched: [...new Set(matched)], plainHosts };
}

function plainHost(
  host: string,
  { port, placed, origin }: HostGroup,
  { settings }: HostContext,
  memo: Memo,
): Candidate {
  const { name, domains, piece } = hostOfNoService(memo, { settings, placed, host, port });
  return { piece, claim: { name, domains, port, hostname: "" }, origin };
}

interface Routed {
  readonly placed: PlacedRoutes;
  readonly port: number;
}

const hostOfNoService = step(
  "virtual host of no service",
  { settings: "identity", placed: "identity", host: "value", port: "value" },
  ({ settings, placed, host, port }: Routed & { readonly settings: TableSettings; readonly host: string }) => {
    const name = virtualHostName(host, port);
    const all = settings.proxyless ? [bracketed(host), name] : [bracketed(host)];
    return {
      name,
      domains: { all, keys: all, derived: all.map(() => false) },
      piece: hostPiece(name, all, placed.routes, placed.from, settings.headers),
    };
  },
);

function serviceHost(service: TableService, group: HostGroup, context: HostContext, memo: Memo): Candidate {
  const { port, placed, origin } = group;
  const domains = domainsOf(service, port, context.port, { ...context, memo });
  const { headers } = context.settings;
  return { ...hostOfService(memo, { headers, placed, domains, port }), origin };
}

interface RoutedService extends Routed {
  readonly headers: ForwardedHeaders;
  readonly domains: ServiceDomains;
}

const hostOfService = step(
  "virtual host of a service",
  { headers: "identity", placed: "identity", domains: "identity", port: "value" },
  ({ headers, placed, domains, port }: RoutedService): Omit<Candidate, "origin"> => {
    const hostname = domains.service.hostname.toLowerCase();
    const name = virtualHostName(hostname, port);
    const from = [...placed.from, ...originKeys(domains.service)];
    return {
      piece: hostPiece(name, domains.all, placed.routes, from, headers),
      claim: { name, domains, port, hostname },
    };
  },
);

interface DefaultHost {
  readonly hostname: string;
  readonly candidate: Candidate;
}

interface DefaultHosts extends RuleSource, Pick<TableContext, "settings" | "domains"> {
  readonly services: TableServices;
  /** Of the table. */
  readonly port: number;
}

/**
 * What each service would have if no virtual service claimed it, in order of host names. Remembered as a whole, because
 * most changes are about other objects.
 */
const defaultHosts = step(
  "default virtual hosts",
  {
    settings: "identity",
    domains: "identity",
    services: "identity",
    serviceByHostname: "identity",
    destinationRule: "identity",
    port: "value",
  },
  ({ services, port: tablePort, ...table }: DefaultHosts, memo: Memo): readonly DefaultHost[] => {
    const { settings, domains } = table;
    const isOnlyPort = tablePort !== 0;
    const hosts: DefaultHost[] = [];
    for (const { service, httpPorts } of services.sorted) {
      if (service.resolution === "Alias" || httpPorts.length === 0) continue;
      const rule = hashRule(table, service.hostname, memo);
      const proxy = seenAs(service, domains);
      for (const { port } of httpPorts)
        hosts.push(defaultHost(memo, { settings, proxy, service, rule, port, isOnlyPort }));
    }
    return hosts;
  },
);

interface DefaultRoute {
  readonly settings: TableSettings;
  readonly proxy: DomainPerspective;
  readonly service: Service;
  readonly rule: MeshDestinationRule | undefined;
  readonly port: number;
  /** The table is of this port alone. */
  readonly isOnlyPort: boolean;
}

/** Its domains are made for it, and not asked for: few services have a host that a virtual service made with the same. */
const defaultHost = step(
  "default virtual host",
  {
    settings: "identity",
    proxy: "identity",
    service: "identity",
    rule: "identity",
    port: "value",
    isOnlyPort: "value",
  },
  ({ settings, proxy, service, rule, port, isOnlyPort }: DefaultRoute): DefaultHost => {
    const hostname = service.hostname.toLowerCase();
    const name = virtualHostName(hostname, port);
    const domains = makeDomains({ proxy, service, portSuffix: portSuffix(port, isOnlyPort, settings) });
    const hash = rule && serviceHash(rule.config.spec, port);
    const route = defaultOutboundRoute(hostname, port, hash, settings.defaultRetry);
    const piece = hostPiece(name, domains.all, [route], provenanceOf(service, rule), settings.headers);
    return { hostname, candidate: { piece, claim: { name, domains, port, hostname: "" }, origin: undefined } };
  },
);

function hostPiece(
  name: string,
  domains: readonly string[],
  routes: readonly RouteJson[],
  from: readonly ConfigKey[],
  headers: ForwardedHeaders,
): VirtualHostPiece {
  return { name, json: virtualHost(name, domains, routes, headers.attemptCount), from };
}

function domainsOf(
  { service }: TableService,
  port: number,
  tablePort: number,
  { domains, settings, memo }: Pick<TableContext, "domains" | "settings" | "memo">,
): ServiceDomains {
  return serviceDomains(memo, { proxy: domains, service, portSuffix: portSuffix(port, tablePort !== 0, settings) });
}

/** In a table of all ports, and for who compares them, the domains say which port they mean. */
function portSuffix(port: number, isOnlyPort: boolean, { proxyless }: TableSettings): number | undefined {
  return isOnlyPort && !proxyless ? undefined : port;
}
