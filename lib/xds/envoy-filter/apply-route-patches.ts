/** EnvoyFilter on route tables. @see docs/how-istio-does-it/envoy-filters.md#operations */
import {
  type RouteJson,
  RouteSchema,
  type VirtualHostJson,
  VirtualHostSchema,
} from "../../../gen/envoy/config/route/v3/route_components_pb.ts";
import { type RouteConfigurationJson, RouteConfigurationSchema } from "../../../gen/envoy/config/route/v3/route_pb.ts";
import type { ConfigKey, Diagnostic, Stage } from "../../base/diagnostic.ts";
import type { PatchContext } from "../../config/kinds/envoy-filter.ts";
import type { Memo } from "../../incremental/memo.ts";
import { query } from "../../incremental/query.ts";
import { parseGatewayRouteName } from "../../mesh/gateway/gateway-port.ts";
import type { MergedGateway } from "../../mesh/gateway/merged-gateway.ts";
import type { RouteView } from "../../mesh/views/views.ts";
import { parseClusterName } from "../names.ts";
import type { Resource } from "../resource.ts";
import { applyAcceptable } from "./leave-out.ts";
import { matchNotes } from "./match-notes.ts";
import { type Copies, mergeMessage } from "./merge-message.ts";
import { hasContext, type Patch, type Patches, readPatches } from "./patch.ts";
import { patchList } from "./patch-list.ts";
import { tableRefusals } from "./table-refusals.ts";

/** Port in the name of a gateway's table → the ports that its servers declare. */
type PortMap = ReadonlyMap<number, ReadonlySet<number>>;

/** Where a route table belongs, as the matches of patches see it. */
export interface PatchScope {
  readonly context: PatchContext;
  /** Empty for sidecars. */
  readonly ports: PortMap;
}

export function applyRoutePatches(
  view: RouteView,
  tables: readonly Resource<RouteConfigurationJson>[],
  memo: Memo,
): Stage<readonly Resource<RouteConfigurationJson>[]> {
  if (view.envoyFilters.patches.length === 0) return { value: tables, diagnostics: [] };
  const read = readPatches(memo, { selected: view.envoyFilters });
  const context = view.proxy.type === "router" ? "GATEWAY" : "SIDECAR_OUTBOUND";
  const inputs = { patches: read.value, gateway: view.gateway?.merged, context } as const;
  const diagnostics: Diagnostic[] = [...read.diagnostics];
  const value = tables.map((table) => {
    const patched = patchedTable(memo, { ...inputs, table });
    diagnostics.push(...patched.diagnostics);
    return patched.value;
  });
  const matched = tables.map((table) => matchedInTable(memo, { ...inputs, table }));
  const isMatched = (patch: Patch<unknown>): boolean => matched.some((patches) => patches.has(patch));
  const { routeConfigurations, virtualHosts, routes } = read.value;
  diagnostics.push(
    ...matchNotes(memo, routeConfigurations, "route table", isMatched),
    ...matchNotes(memo, virtualHosts, "virtual host", isMatched),
    ...matchNotes(memo, routes, "route", isMatched),
  );
  return { value, diagnostics };
}

/** The patches that have something to change in a table as it is before all of them. */
const matchedInTable = query(
  "patches that match a route table",
  ({ patches, gateway, table, context }: Inputs): ReadonlySet<Patch<unknown>> =>
    new Set(matchedInRoutes(table.json, { context, ports: gateway?.portMap() ?? new Map() }, patches)),
);

/** The same, of any table. */
export function matchedInRoutes(
  table: RouteConfigurationJson,
  place: PatchScope,
  { routeConfigurations, virtualHosts, routes }: Patches,
): readonly Patch<unknown>[] {
  const hosts = table.virtualHosts ?? [];
  const inTable = (patch: Patch<unknown>): boolean =>
    hasContext(patch, place.context) && matchesTable(table.name ?? "", patch, place);
  const needsRoute = ({ operation, match }: Patch<unknown>): boolean =>
    operation !== "ADD" && match.routeConfiguration?.vhost?.route !== undefined;
  return [
    ...routeConfigurations.filter(inTable),
    ...virtualHosts.filter(
      (patch) => inTable(patch) && (patch.operation === "ADD" || hosts.some((host) => matchesHost(host, patch))),
    ),
    ...routes.filter(
      (patch) =>
        inTable(patch) &&
        hosts.some(
          (host) =>
            matchesHost(host, patch) &&
            (!needsRoute(patch) || (host.routes ?? []).some((route) => matchesRoute(route, patch))),
        ),
    ),
  ];
}

interface Inputs {
  readonly patches: Patches;
  readonly gateway: MergedGateway | undefined;
  readonly table: Resource<RouteConfigurationJson>;
  readonly context: PatchContext;
}

const patchedTable = query(
  "patched route table",
  ({ patches, gateway, table, context }: Inputs): Stage<Resource<RouteConfigurationJson>> => {
    const place = { context, ports: gateway?.portMap() ?? new Map() };
    const { value, diagnostics } = patchRouteTable(table.json, place, patches);
    const { json, from } = value;
    return { value: json === table.json ? table : { ...table, json, from: [...table.from, ...from] }, diagnostics };
  },
);

/** A table with its patches, and the objects that they come from. */
export interface PatchedTable {
  readonly json: RouteConfigurationJson;
  readonly from: readonly ConfigKey[];
}

/** One table; the same object when no patch applies. Patches for which Envoy would refuse the table are left out. */
export function patchRouteTable(
  table: RouteConfigurationJson,
  place: PatchScope,
  patches: Patches,
): Stage<PatchedTable> {
  const inTable = <T>(list: readonly Patch<T>[]): readonly Patch<T>[] =>
    list.filter((patch) => hasContext(patch, place.context) && matchesTable(table.name ?? "", patch, place));
  const whole = inTable(patches.routeConfigurations).filter((patch) => patch.operation === "MERGE");
  const hosts = inTable(patches.virtualHosts);
  const routes = inTable(patches.routes);
  if (whole.length + hosts.length + routes.length === 0) return { value: { json: table, from: [] }, diagnostics: [] };
  // Patches of routes move no domain, so they cannot be to blame, and most EnvoyFilters need no look at the domains.
  return applyAcceptable({
    what: `the route table ${table.name ?? ""}`,
    suspects: [...whole, ...hosts],
    apply: (without) => {
      const kept = <T>(list: readonly Patch<T>[]): readonly Patch<T>[] => list.filter((patch) => !without.has(patch));
      return { value: withPatches(table, kept(whole), kept(hosts), routes), diagnostics: [] };
    },
    refusals: ({ json }) => tableRefusals(table.name, json),
  });
}

/** The table with patches of the whole of it, of its virtual hosts and of their routes. */
function withPatches(
  table: RouteConfigurationJson,
  whole: readonly Patch<RouteConfigurationJson>[],
  hosts: readonly Patch<VirtualHostJson>[],
  routes: readonly Patch<RouteJson>[],
): PatchedTable {
  const copies: Copies = new WeakSet();
  let merged = table;
  for (const patch of whole) merged = mergeMessage(RouteConfigurationSchema, merged, patch.value, patch.merge, copies);
  const removed = new Set<string | undefined>();
  const kept = (merged.virtualHosts ?? []).flatMap((host) => {
    const patched = patchVirtualHost(host, hosts, routes);
    if (patched === undefined) removed.add(host.name);
    return patched ?? [];
  });
  const added = hosts.filter((patch) => patch.operation === "ADD").map((patch) => patch.value);
  // Hosts are taken out by name and at the end, so one that is added under a removed name goes with it.
  const virtualHosts = [...kept, ...added].filter((host) => !removed.has(host.name));
  return {
    json: withList(merged, "virtualHosts", virtualHosts),
    from: [...new Set([...whole, ...hosts, ...routes].map((patch) => patch.key))],
  };
}

/** @returns undefined for a removed host */
function patchVirtualHost(
  host: VirtualHostJson,
  patches: readonly Patch<VirtualHostJson>[],
  routePatches: readonly Patch<RouteJson>[],
): VirtualHostJson | undefined {
  const copies: Copies = new WeakSet();
  let patched = host;
  for (const patch of patches) {
    if (!matchesHost(patched, patch)) continue;
    if (patch.operation === "REMOVE") return undefined;
    if (patch.operation === "MERGE")
      patched = mergeMessage(VirtualHostSchema, patched, patch.value, patch.merge, copies);
    if (patch.operation === "REPLACE") patched = patch.value;
  }
  return patchRoutes(patched, routePatches);
}

function patchRoutes(host: VirtualHostJson, patches: readonly Patch<RouteJson>[]): VirtualHostJson {
  const applying = patches.filter((patch) => matchesHost(host, patch));
  if (applying.length === 0) return host;
  let routes: readonly RouteJson[] = (host.routes ?? []).flatMap((route) => patchRoute(route, applying) ?? []);
  for (const patch of applying) {
    if (patch.operation === "REMOVE") continue;
    const given = patch.match.routeConfiguration?.vhost?.route !== undefined;
    const is = (route: RouteJson): boolean => matchesRoute(route, patch);
    // Coming first needs a route that matches too, if one is named.
    if (patch.operation === "INSERT_FIRST" && given && !routes.some(is)) continue;
    if (patch.operation === "REPLACE") continue;
    routes = patchList(routes, patch, { given, is });
  }
  return withList(host, "routes", [...routes]);
}

/** @returns undefined for a removed route */
function patchRoute(route: RouteJson, patches: readonly Patch<RouteJson>[]): RouteJson | undefined {
  const copies: Copies = new WeakSet();
  let patched = route;
  for (const patch of patches) {
    if (!matchesRoute(patched, patch)) continue;
    if (patch.operation === "REMOVE") return undefined;
    if (patch.operation === "MERGE") patched = mergeMessage(RouteSchema, patched, patch.value, patch.merge, copies);
  }
  return patched;
}

function matchesTable(name: string, { match }: Patch<unknown>, place: PatchScope): boolean {
  const wanted = match.routeConfiguration;
  if (wanted === undefined) return true;
  if (wanted.name && wanted.name !== name) return false;
  if (place.context !== "GATEWAY") {
    const port = name.startsWith("inbound") ? parseClusterName(name)?.port : numberOf(name);
    return !wanted.portNumber || wanted.portNumber === port;
  }
  const server = parseGatewayRouteName(name);
  const declared = place.ports.get(server.port) ?? new Set([server.port]);
  return (
    (!wanted.portNumber || declared.has(wanted.portNumber)) &&
    (!wanted.portName || wanted.portName === server.portName) &&
    (!wanted.gateway || wanted.gateway === server.gateway)
  );
}

/** As a decimal number; 0 for any other text. */
function numberOf(text: string): number {
  return /^\d+$/.test(text) ? Number(text) : 0;
}

function matchesHost(host: VirtualHostJson, { match }: Patch<unknown>): boolean {
  const wanted = match.routeConfiguration?.vhost;
  if (wanted?.name && wanted.name !== host.name) return false;
  return !wanted?.domainName || (host.domains ?? []).includes(wanted.domainName);
}

function matchesRoute(route: RouteJson, { match }: Patch<unknown>): boolean {
  const wanted = match.routeConfiguration?.vhost?.route;
  if (wanted?.name && wanted.name !== route.name) return false;
  const action = wanted?.action ?? "ANY";
  const own = actionOf(route);
  return action === "ANY" || own === undefined || action === own;
}

function actionOf(route: RouteJson): "ROUTE" | "REDIRECT" | "DIRECT_RESPONSE" | undefined {
  if (route.route !== undefined) return "ROUTE";
  if (route.redirect !== undefined) return "REDIRECT";
  return route.directResponse === undefined ? undefined : "DIRECT_RESPONSE";
}

/** An empty list is not written. */
function withList<T extends object, K extends keyof T>(
  object: T,
  key: K,
  list: NonNullable<T[K]> & readonly unknown[],
): T {
  if (list.length > 0) return { ...object, [key]: list };
  const { [key]: _empty, ...rest } = object;
  // Only an optional list was taken out.
  return rest as T;
}
