import type { RouteConfig } from "./documents.ts";
import { egressTables } from "./egress.ts";
import { ingressTables } from "./ingress-routes.ts";
import { instancesAt } from "./instances.ts";
import type { LegacyInstance, LegacyWorld } from "./legacy-world.ts";
import type { NodeId } from "./node-id.ts";
import { joinedTable, mergeTables, type RouteTables, routeConfig, serviceTables } from "./outbound-routes.ts";
import type { RouteSettings } from "./rule-route.ts";

/** Name of the table that joins all ports, for an explicit HTTP proxy. */
export const httpProxyTable = "http_proxy";

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
  if (node.type === "router" || settings.v2Names) return services;
  return mergeTables(services, egressTables(world, instances, node, settings));
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
  if (node.type === "router") return { error: "unrecognized node type" };
  const tables = node.type === "ingress" ? ingressByPort(world, settings) : sidecarTables(world, node, settings);
  if (table === httpProxyTable) return routeConfig(joinedTable(tables));
  if (!/^[-+]?\d+$/.test(table)) return { error: `strconv.Atoi: parsing ${JSON.stringify(table)}: invalid syntax` };
  return routeConfig(tables.get(Number(table)) ?? []);
}

function sidecarTables(world: LegacyWorld, node: NodeId, settings: RouteSettings): RouteTables {
  return outboundTables(world, instancesAt(world, node.ip), node, settings);
}

function ingressByPort(world: LegacyWorld, settings: RouteSettings): RouteTables {
  const { plain, tls } = ingressTables(world, settings);
  return new Map([
    [80, plain],
    [443, tls],
  ]);
}
