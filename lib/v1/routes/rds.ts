import { type Memo, noMemo } from "../../incremental/memo.ts";
import { trackedQuery } from "../../incremental/tracked-query.ts";
import type { NodeId } from "../../legacy/node-id.ts";
import { httpProxyTable, tableNameError } from "../../legacy/v1-request.ts";
import { externalTables } from "../compat/external-routes.ts";
import { gatewayHosts } from "../compat/gateway.ts";
import type { RouteConfig } from "../documents.ts";
import { egressTables } from "../egress.ts";
import { instancesAt } from "../instances.ts";
import { type JoinedTable, joinedAs, joinedTable } from "../joined-table.ts";
import type { LegacyMesh, LegacyWorld } from "../legacy-world.ts";
import type { RequestContext } from "../request-context.ts";
import { type RunsHere, runsHere } from "../runs-here.ts";
import { serviceTables } from "../service-tables.ts";
import { ingressTables } from "./ingress-routes.ts";
import { type BuiltHost, mergeTables, type RouteTables, routeConfig } from "./outbound-routes.ts";

/** The tables of all ports that a node routes HTTP on: one object for all nodes of which the rules say the same. */
export const outboundTables = (memo: Memo, requestContext: Omit<RequestContext, "here">, here: RunsHere): RouteTables =>
  tablesAt(memo, requestContext, here).value;

const tablesAt = trackedQuery(
  "tables of the v1 API",
  { node: "value" },
  (requestContext: Omit<RequestContext, "here">, here: RunsHere, memo: Memo): RouteTables =>
    makeTables({ ...requestContext, here }, memo),
);

function makeTables(requestContext: RequestContext, memo: Memo): RouteTables {
  const services = serviceTables(requestContext, memo);
  if (requestContext.v2Names) return services;
  // Routers ignore egress rules.
  const inside = requestContext.node.type === "router" ? services : mergeTables(services, egressTables(requestContext));
  return mergeTables(inside, externalTables(requestContext));
}

/**
 * RDS: the table of a port, by its decimal number, or the joined one. A colon before the name asks for v2's cluster names.
 * A port that nobody has gets an empty table.
 *
 * @returns what is wrong, in the words of the release, for routers and for any other name
 * @see docs/how-istio-does-it/legacy-v1.md#routes
 */
export function routesDocument(
  world: LegacyWorld,
  node: NodeId,
  name: string,
): RouteConfig | { readonly error: string } {
  const v2Names = name.startsWith(":");
  const table = v2Names ? name.slice(1) : name;
  const problem = tableNameError(table);
  if (node.type === "router") return routerRoutes(world, node, table, problem);
  if (problem !== undefined) return { error: problem };
  const tables = tablesFor(noMemo, { world, node, v2Names }, runsHere(instancesAt(world, node.ip)));
  return routeConfig(table === httpProxyTable ? joinedTable(tables, noMemo).hosts : (tables.get(Number(table)) ?? []));
}

/** All tables of a node with the names that they are asked for by. */
export interface NodeTables {
  readonly plain: RouteTables;
  /** With v2's cluster names. */
  readonly v2Named: RouteTables;
}

/** Of a sidecar or an ingress proxy. */
export function nodeTables(memo: Memo, world: LegacyMesh, node: NodeId, here: RunsHere): NodeTables {
  const tables = (v2Names: boolean): RouteTables => tablesFor(memo, { world, node, v2Names }, here);
  return { plain: tables(false), v2Named: tables(true) };
}

/** Virtual hosts by the names of tables. */
export type NamedTables = ReadonlyMap<string, readonly BuiltHost[]>;

/** Every table by its name. */
export const namedTables = (tables: NodeTables, memo: Memo): NamedTables => namesOf(tables, joinedTables(tables, memo));

/** Of each kind of cluster names all tables as one. */
export interface JoinedTables {
  readonly plain: JoinedTable;
  readonly v2Named: JoinedTable;
}

export const joinedTables = ({ plain, v2Named }: NodeTables, memo: Memo): JoinedTables => ({
  plain: joinedTable(plain, memo),
  v2Named: joinedTable(v2Named, memo),
});

/** Every table by its name, of a node that has most of its virtual hosts from other tables. */
export function namedAs(
  { plain, v2Named }: NodeTables,
  parent: NodeTables & { readonly joined: JoinedTables },
  memo: Memo,
): NamedTables {
  return namesOf(
    { plain, v2Named },
    {
      plain: joinedAs(plain, { tables: parent.plain, joined: parent.joined.plain }, memo),
      v2Named: joinedAs(v2Named, { tables: parent.v2Named, joined: parent.joined.v2Named }, memo),
    },
  );
}

export const namesOf = ({ plain, v2Named }: NodeTables, joined: JoinedTables): NamedTables =>
  new Map([...tablesBehind("", plain, joined.plain), ...tablesBehind(":", v2Named, joined.v2Named)]);

const tablesBehind = (
  colon: string,
  tables: RouteTables,
  { hosts: joined }: JoinedTable,
): readonly (readonly [string, readonly BuiltHost[]])[] => [
  ...[...tables].map(([port, hosts]) => [`${colon}${port}`, hosts] as const),
  [`${colon}${httpProxyTable}`, joined],
];

/** Those of a router, by their names. */
export function routerTables(world: LegacyMesh, node: NodeId): NamedTables | { readonly error: string } {
  const { v1alpha3: configs } = world;
  if (configs === undefined) return routersHaveNone;
  const ports = configs.gateways.flatMap(({ spec }) => spec.servers.map(({ port }) => port.number));
  return new Map([...new Set(ports)].map((port) => [String(port), gatewayHosts(world, configs, node, port)]));
}

function tablesFor(memo: Memo, requestContext: Omit<RequestContext, "here">, here: RunsHere): RouteTables {
  if (requestContext.node.type !== "ingress") return outboundTables(memo, requestContext, here);
  const { plain, tls } = ingressTables(requestContext.world, requestContext.node, requestContext.v2Names);
  return new Map([
    [80, plain],
    [443, tls],
  ]);
}

const routersHaveNone = { error: "unrecognized node type" };

/** Gateways were served over v1 by release 0.7 only. */
function routerRoutes(
  world: LegacyMesh,
  node: NodeId,
  table: string,
  problem: string | undefined,
): RouteConfig | { readonly error: string } {
  if (world.v1alpha3 === undefined) return routersHaveNone;
  if (problem !== undefined) return { error: `parsing routeName ${JSON.stringify(table)} as number: ${problem}` };
  return routeConfig(gatewayHosts(world, world.v1alpha3, node, Number(table)));
}
