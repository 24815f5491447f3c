import type { RouteConfigurationJson } from "../../../gen/envoy/config/route/v3/route_pb.ts";
import type { Diagnostic, Stage } from "../../base/diagnostic.ts";
import { lazily } from "../../incremental/lazy.ts";
import { query } from "../../incremental/query.ts";
import type { EgressListener, SidecarScope } from "../../mesh/scope/sidecar-scope.ts";
import type { RouteView } from "../../mesh/views/views.ts";
import { httpProxyRouteTable } from "../names.ts";
import type { Resource } from "../resource.ts";
import { catchAllVirtualHost, type ForwardedHeaders } from "./actions/default-route.ts";
import { orderedJson, orderedOwners, orderedPieces, type ResolvedHosts } from "./resolved-hosts.ts";
import { sidecarHosts } from "./sidecar-hosts.ts";
import type { TableContext } from "./table-context.ts";
import { emptyTable, fewPieces, keptTable, routeTable, type VirtualHostPiece } from "./virtual-host.ts";

/**
 * The route tables of a sidecar: `<port>`, `<host>:<port>` for sniffed ports, `http_proxy` and unix sockets by their bind.
 *
 * @returns in the order of `names`; an empty table for a name that means nothing
 * @see docs/how-istio-does-it/routes.md#tables
 * @see docs/how-istio-does-it/routes.md#hosts-of-a-sidecars-table
 */
export function sidecarTables(
  names: readonly string[],
  table: TableContext,
): Stage<readonly Resource<RouteConfigurationJson>[]> {
  const diagnostics: Diagnostic[] = [];
  // The hosts of a port are worked out once for its own table and for those of all its sniffed hosts.
  const hostsByPort = new Map<string, PortHosts>();
  const hostsOf = ({ port, bind }: TableName): PortHosts => {
    const key = port === 0 ? bind : String(port);
    const present = hostsByPort.get(key);
    if (present !== undefined) return present;
    const { value: resolved, diagnostics: found } = hostsOfPort(port, bind, table);
    diagnostics.push(...found);
    const made = { resolved, byDomain: lazily(() => indexByDomain(orderedPieces(table.memo, resolved))) };
    hostsByPort.set(key, made);
    return made;
  };
  const value = names.map((name) => {
    const parsed = parseTableName(name);
    if (parsed === undefined) return emptyTable(name);
    const hosts = hostsOf(parsed);
    if (parsed.sniffedHost === undefined) return wholeTable(name, hosts.resolved, table);
    const pieces = sniffedPieces(name, parsed.sniffedHost, hosts, table);
    return keptTable(table.view.key, { name, pieces }, table.memo);
  });
  return { value, diagnostics };
}

/** The table of a port: all of its hosts, and what becomes of others. */
function wholeTable(name: string, hosts: ResolvedHosts, table: TableContext): Resource<RouteConfigurationJson> {
  const { memo } = table;
  const last = catchAll(table);
  if (hosts.order.count < fewPieces)
    return keptTable(table.view.key, { name, pieces: orderedPieces(memo, hosts, last) }, memo);
  return routeTable(memo, {
    name,
    hosts: orderedJson(memo, hosts, last),
    owners: orderedOwners(memo, hosts),
  });
}

/**
 * The virtual hosts of a port, or of a bind without one.
 *
 * @returns none for a port that no egress listener has
 */
export function hostsOfPort(port: number, bind: string, table: TableContext): Stage<ResolvedHosts> {
  const listener = egressListenerOf(table.view, port, bind);
  return listener === undefined ? noHosts : sidecarHosts(listener, tablePort(listener, port), table);
}

const noHosts: Stage<ResolvedHosts> = {
  value: {
    fromVirtualServices: [],
    defaults: [],
    order: { count: 0, indexes: [], indexesOfDefaults: [], trimmed: new Map() },
    slot: "",
  },
  diagnostics: [],
};

interface PortHosts {
  readonly resolved: ResolvedHosts;
  byDomain(): ReadonlyMap<string, readonly VirtualHostPiece[]>;
}

interface TableName {
  /** 0 for an HTTP proxy or a unix socket. */
  readonly port: number;
  readonly bind: string;
  /** Host whose sniffed port this is; undefined for a table of many hosts. */
  readonly sniffedHost: string | undefined;
}

function parseTableName(name: string): TableName | undefined {
  if (name === httpProxyRouteTable || name.startsWith("unix://"))
    return { port: 0, bind: name, sniffedHost: undefined };
  const match = /^(?:(.+):)?(\d+)$/.exec(name);
  if (match === null) return undefined;
  return { port: Number(match[2]), bind: name, sniffedHost: match[1] };
}

/** The first listener with this port, or the catch-all one, whichever comes first; a unix socket is found by its bind. */
function egressListenerOf(view: RouteView, port: number, bind: string): EgressListener | undefined {
  return view.scope.egressListeners.find(({ spec }) => {
    if (spec?.port === undefined) return true;
    if ((spec.port.number ?? 0) !== port) return false;
    return port !== 0 || spec.bind === bind;
  });
}

/** A listener that is an HTTP proxy serves all ports, whichever it listens on. */
function tablePort(listener: EgressListener, port: number): number {
  return listener.spec?.port?.protocol?.toUpperCase() === "HTTP_PROXY" ? 0 : port;
}

/** The one virtual host of a sniffed host takes everything: its listener has told the host by the address already. */
function sniffedPieces(name: string, host: string, hosts: PortHosts, table: TableContext): readonly VirtualHostPiece[] {
  const byDomain = hosts.byDomain();
  const found = [...new Set([...(byDomain.get(host) ?? []), ...(byDomain.get(name) ?? [])])];
  const [only] = found;
  if (only === undefined || found.length > 1) return found;
  return [sniffedHost(table.memo, { only })];
}

const sniffedHost = query(
  "virtual host of a sniffed port",
  ({ only }: { readonly only: VirtualHostPiece }): VirtualHostPiece => ({
    ...only,
    json: { ...only.json, domains: ["*"] },
  }),
);

function indexByDomain(pieces: readonly VirtualHostPiece[]): ReadonlyMap<string, readonly VirtualHostPiece[]> {
  const index = new Map<string, VirtualHostPiece[]>();
  for (const piece of pieces) {
    for (const domain of piece.json.domains ?? []) {
      const present = index.get(domain);
      if (present === undefined) index.set(domain, [piece]);
      else present.push(piece);
    }
  }
  return index;
}

function catchAll({ view, settings, memo }: TableContext): VirtualHostPiece {
  return catchAllHost(memo, { policy: view.scope.outboundTrafficPolicy, headers: settings.headers });
}

interface Unclaimed {
  readonly policy: SidecarScope["outboundTrafficPolicy"];
  readonly headers: ForwardedHeaders;
}

const catchAllHost = query(
  "catch-all virtual host",
  { policy: "value" },
  ({ policy, headers }: Unclaimed): VirtualHostPiece => {
    const json = catchAllVirtualHost(policy, headers);
    return { name: json.name ?? "", json, from: [] };
  },
);
