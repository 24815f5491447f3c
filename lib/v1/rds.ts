import type { NodeId } from "../snapshot/legacy/node-id.ts";
import { httpProxyTable, tableNameError } from "../snapshot/legacy/question.ts";
import { externalTables } from "./compat/external-routes.ts";
import { gatewayHosts } from "./compat/gateway.ts";
import type { RouteConfig } from "./documents.ts";
import { egressTables } from "./egress.ts";
import { ingressTables } from "./ingress-routes.ts";
import { instancesAt } from "./instances.ts";
import type { LegacyInstance, LegacyWorld } from "./legacy-world.ts";
import { joinedTable, mergeTables, type RouteTables, routeConfig, serviceTables } from "./outbound-routes.ts";
import type { RouteSettings } from "./rule-route.ts";

/** Settings that name clusters as v1 does. */
export const v1Settings = (world: LegacyWorld): RouteSettings => ({
  connectTimeoutMs: world.mesh.connectTimeoutMs,
  v2Names: false,
});

/** The tables of all ports that a sidecar routes HTTP on. */
export function outboundTables(
  world: LegacyWorld,
  instances: readonly LegacyInstance[],
  node: NodeId,
  settings: RouteSettings,
): RouteTables {
  const services = serviceTables(world, instances, node.domain, settings);
  if (settings.v2Names) return services;
  // Routers ignore egress rules.
  if (node.type === "router") return mergeTables(services, externalTables(world, instances, node, settings));
  const egress = mergeTables(services, egressTables(world, instances, node, settings));
  return mergeTables(egress, externalTables(world, instances, node, settings));
}

/**
 * RDS: the table of a port, by its decimal number, or the joined one. A colon before the name asks for v2's cluster names.
 * A port that nobody has gets an empty table.
 *
 * @returns what is wrong, in the words of the release, for routers and for any other name
 * @see v1-api 5
 */
export function routesDocument(
  world: LegacyWorld,
  node: NodeId,
  name: string,
): RouteConfig | { readonly error: string } {
  const v2Names = name.startsWith(":");
  const table = v2Names ? name.slice(1) : name;
  const settings = { ...v1Settings(world), v2Names };
  if (node.type === "router") return routerRoutes(world, node, table);
  const tables = node.type === "ingress" ? ingressByPort(world, node, settings) : sidecarTables(world, node, settings);
  if (table === httpProxyTable) return routeConfig(joinedTable(tables));
  const problem = tableNameError(table);
  if (problem !== undefined) return { error: problem };
  return routeConfig(tables.get(Number(table)) ?? []);
}

/** Gateways were served over v1 by release 0.7 only. */
function routerRoutes(world: LegacyWorld, node: NodeId, table: string): RouteConfig | { readonly error: string } {
  if (world.v1alpha3 === undefined) return { error: "unrecognized node type" };
  const problem = tableNameError(table);
  if (problem !== undefined) return { error: `parsing routeName ${JSON.stringify(table)} as number: ${problem}` };
  return routeConfig(gatewayHosts(world, world.v1alpha3, node, Number(table)));
}

function sidecarTables(world: LegacyWorld, node: NodeId, settings: RouteSettings): RouteTables {
  return outboundTables(world, instancesAt(world, node.ip), node, settings);
}

function ingressByPort(world: LegacyWorld, node: NodeId, settings: RouteSettings): RouteTables {
  const { plain, tls } = ingressTables(world, settings, node.domain);
  return new Map([
    [80, plain],
    [443, tls],
  ]);
}
