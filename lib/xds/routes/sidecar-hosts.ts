import type { Stage } from "../../base/diagnostic.ts";
import { mappedList } from "../../incremental/mapped-list.ts";
import type { Memo } from "../../incremental/memo.ts";
import { query } from "../../incremental/query.ts";
import type { MeshVirtualService } from "../../mesh/index/virtual-service-index.ts";
import type { EgressListener } from "../../mesh/scope/sidecar-scope.ts";
import { bracketed, virtualHostName } from "../names.ts";
import { originKeys } from "../provenance.ts";
import type { ForwardedHeaders } from "./actions/default-route.ts";
import { type DefaultHost, defaultHost, defaultHosts } from "./default-hosts.ts";
import {
  type Candidate,
  claimsOfVirtualServices,
  resolvedHosts,
  type TableKey,
  type VirtualServiceHosts,
  virtualServiceHosts,
} from "./host-claims.ts";
import {
  type HostContext,
  type HostGroup,
  hostGroups,
  type NamedHosts,
  namedHosts,
  namesSomeService,
  sidecarRouteScope,
} from "./host-groups.ts";
import { domainsOf, hostPiece } from "./host-piece.ts";
import type { ClaimsOfVirtualServices } from "./resolved-domains.ts";
import type { ResolvedHosts } from "./resolved-hosts.ts";
import { type ScopedRoutes, scopedRoutes } from "./scoped-routes.ts";
import { type ServiceDomains, seenOf } from "./service-domains.ts";
import { ruleSource, type TableContext, type TableSettings } from "./table-context.ts";
import { type TableService, tableServices } from "./table-services.ts";

/**
 * The virtual hosts that a sidecar's table of one port has: one for each host of the virtual services that apply, and one
 * with a default route for each remaining service. Names and domains are taken by who comes first.
 *
 * @param port 0: a table of all ports, for an HTTP proxy or a unix socket
 * @returns without the catch-all; places are in the order of names
 * @see docs/how-istio-does-it/routes.md#hosts-of-a-sidecars-table
 */
export function sidecarHosts(listener: EgressListener, port: number, table: TableContext): Stage<ResolvedHosts> {
  const { memo, settings, domains, view } = table;
  const services = tableServices(memo, { services: listener.services, port, namesPorts: settings.proxyless });
  const slot = `${settings.proxyless ? "grpc|" : ""}${view.key()}|${listener.spec?.bind ?? ""}|${port}`;
  const at = { services, port, slot };
  const fromVirtualServices = allVirtualServiceHosts(listener, at, table);
  const hosts = defaultHosts(memo, { settings, domains, services, port, ...ruleSource(view) });
  return hostsTogether(memo, { fromVirtualServices, hosts, ...at });
}

interface Together extends TableKey {
  readonly fromVirtualServices: readonly VirtualServiceHosts[];
  readonly hosts: readonly DefaultHost[];
}

/** Most changed VirtualServices have no host in most tables. */
const hostsTogether = query(
  "virtual hosts of a sidecar's port",
  ({ fromVirtualServices, hosts, ...at }: Together, memo: Memo): Stage<ResolvedHosts> => {
    const claims = claimsOfVirtualServices(memo, at.slot, fromVirtualServices);
    const defaults = unclaimedHosts(memo, { claims, hosts });
    return resolvedHosts({ fromVirtualServices, claims, defaults }, at, memo);
  },
);

interface Unclaimed {
  readonly claims: ClaimsOfVirtualServices;
  readonly hosts: readonly DefaultHost[];
}

/** The default hosts of services without a VirtualService. */
const unclaimedHosts = query(
  "unclaimed virtual hosts",
  ({ claims, hosts }: Unclaimed, memo: Memo): readonly Candidate[] => {
    const names = new Set(claims.flatMap((of) => of.map(({ hostname }) => hostname)));
    return hosts.filter(({ hostname }) => !names.has(hostname)).map(({ route }) => defaultHost(memo, route));
  },
);

/** The hosts of all VirtualServices of a listener. */
function allVirtualServiceHosts(
  { virtualServices, virtualServiceByHost }: EgressListener,
  { services, port, slot }: TableKey,
  { memo, settings, domains, view }: TableContext,
): readonly VirtualServiceHosts[] {
  if (virtualServices.length === 0) return noVirtualServiceHosts;
  const { sourceLabels: labels, proxy } = view;
  const routeScope = sidecarRouteScope(memo, { ...ruleSource(view), services, port, labels, caller: proxy.namespace });
  const context = { settings, domains, services, port, routeScope };
  const byHost = hasWildcards(memo, { virtualServices })
    ? ({ hasWildcard }: MeshVirtualService) => (hasWildcard ? virtualServiceByHost : undefined)
    : undefined;
  return hostsOfVirtualServices(memo, slot, virtualServices, context, byHost);
}

/** Whether one of them depends on what the others say. */
const hasWildcards = query(
  "wildcards among virtual services",
  ({ virtualServices }: Pick<EgressListener, "virtualServices">): boolean =>
    virtualServices.some(({ hasWildcard }) => hasWildcard),
);

const noVirtualServiceHosts: readonly VirtualServiceHosts[] = [];
const noHosts = virtualServiceHosts([]);

/**
 * The hosts of all virtual services of a table. Those of one that is what it was are found by where it stands: with the mesh both
 * the tables and the virtual services of each become more.
 */
const hostsOfVirtualServices = mappedList(
  "virtual hosts of virtual services",
  (
    virtualService: MeshVirtualService,
    byHost: EgressListener["virtualServiceByHost"] | undefined,
    context: HostContext,
    memo: Memo,
  ): VirtualServiceHosts => {
    if (context.port !== 80 && !namesSomeService(virtualService, context.services)) return noHosts;
    const scoped = scopedRoutes(virtualService, context.routeScope, { ...context, memo });
    const named = scoped.routes.length === 0 ? undefined : namedHosts(virtualService, byHost, context, memo);
    if (named === undefined) return noHosts;
    const { settings, port } = context;
    const domains = seenOf(
      named.matched.map(({ service }) => service),
      context.domains,
      memo,
    );
    return hostsOfOne(memo, { virtualService, scoped, named, settings, domains, port });
  },
);

/** What a virtual service brings to all tables in which it means the same: as a rule to those of most namespaces. */
interface Bringing extends Pick<HostContext, "settings" | "domains" | "port"> {
  readonly virtualService: MeshVirtualService;
  readonly scoped: ScopedRoutes;
  readonly named: NamedHosts;
}

const hostsOfOne = query(
  "virtual hosts of a virtual service",
  ({ virtualService, scoped, named, ...context }: Bringing, memo: Memo): VirtualServiceHosts => {
    const groups = hostGroups(virtualService, named, scoped, context.port);
    if (groups.length === 0) return noHosts;
    return virtualServiceHosts(
      groups.flatMap((group) => [
        ...group.plainHosts.map((host) => plainHost(host, group, context, memo)),
        ...group.services.map((service) => serviceHost(service, group, context, memo)),
      ]),
    );
  },
);

/** What hosts are made with. */
type Making = Pick<Bringing, "settings" | "domains" | "port">;

function plainHost(host: string, { port, scoped, origin }: HostGroup, { settings }: Making, memo: Memo): Candidate {
  const { name, domains, piece } = hostOfNoService(memo, { settings, scoped, host, port });
  return { piece, claim: { name, domains, port, hostname: "" }, origin };
}

interface Routed {
  readonly scoped: ScopedRoutes;
  readonly port: number;
}

const hostOfNoService = query(
  "virtual host of no service",
  ({ settings, scoped, host, port }: Routed & { readonly settings: TableSettings; readonly host: string }) => {
    const name = virtualHostName(host, port);
    const all = settings.proxyless ? [bracketed(host), name] : [bracketed(host)];
    return {
      name,
      domains: { all, keys: all, derived: all.map(() => false) },
      piece: hostPiece(name, all, scoped.routes, scoped.from, settings.headers),
    };
  },
);

function serviceHost(service: TableService, group: HostGroup, context: Making, memo: Memo): Candidate {
  const { port, scoped, origin } = group;
  const domains = domainsOf(service, port, context.port, { ...context, memo });
  const { headers } = context.settings;
  return { ...hostOfService(memo, { headers, scoped, domains, port }), origin };
}

interface RoutedService extends Routed {
  readonly headers: ForwardedHeaders;
  readonly domains: ServiceDomains;
}

const hostOfService = query(
  "virtual host of a service",
  ({ headers, scoped, domains, port }: RoutedService): Omit<Candidate, "origin"> => {
    const hostname = domains.service.hostname.toLowerCase();
    const name = virtualHostName(hostname, port);
    const from = [...scoped.from, ...originKeys(domains.service)];
    return {
      piece: hostPiece(name, domains.all, scoped.routes, from, headers),
      claim: { name, domains, port, hostname },
    };
  },
);
