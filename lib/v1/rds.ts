import type { NodeId } from "../snapshot/legacy/node-id.ts";
import { httpProxyTable, tableNameError } from "../snapshot/legacy/question.ts";
import type { Asker } from "./asker.ts";
import { externalTables } from "./compat/external-routes.ts";
import { gatewayHosts } from "./compat/gateway.ts";
import { matchedSources } from "./config-store.ts";
import type { RouteConfig } from "./documents.ts";
import { egressTables } from "./egress.ts";
import { ingressTables } from "./ingress-routes.ts";
import { instancesAt } from "./instances.ts";
import { type LegacyInstance, type LegacyWorld, usesMixer } from "./legacy-world.ts";
import { joinedTable, mergeTables, type RouteTables, routeConfig, serviceTables } from "./outbound-routes.ts";

/** The tables of all ports that a node routes HTTP on. */
export function outboundTables(asker: Asker): RouteTables {
  const make = (): RouteTables => makeTables(asker);
  return asker.world.remember?.(`tables|${asker.v2Names}|${tablesKey(asker)}`, make) ?? make();
}

/** What the tables of a node depend on: two nodes with equal keys have equal tables, but for what is in holes. */
export function tablesKey({ world, node, instances }: Omit<Asker, "v2Names">): string {
  const matched = matchedSources(world.configs, instances);
  // Mixer is told the labels of the first instance, and virtual services compare those of all.
  const labels = world.v1alpha3 === undefined ? instances.slice(0, usesMixer(world.mesh) ? 1 : 0) : instances;
  return JSON.stringify([node.type, node.domain, node.ip, node.id, matched, labels.map((instance) => instance.labels)]);
}

function makeTables(asker: Asker): RouteTables {
  const services = serviceTables(asker);
  if (asker.v2Names) return services;
  // Routers ignore egress rules.
  const inside = asker.node.type === "router" ? services : mergeTables(services, egressTables(asker));
  return mergeTables(inside, externalTables(asker));
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
  const tables = tablesFor({ world, node, instances: instancesAt(world, node.ip), v2Names });
  return routeConfig(table === httpProxyTable ? joinedTable(tables) : (tables.get(Number(table)) ?? []));
}

/** Every table of a node by its name, those with v2's cluster names included. */
export function allRoutes(
  world: LegacyWorld,
  node: NodeId,
  instances: readonly LegacyInstance[],
): ReadonlyMap<string, RouteConfig> | { readonly error: string } {
  if (node.type === "router") {
    const ports = world.v1alpha3?.gateways.flatMap(({ spec }) => spec.servers.map(({ port }) => port.number)) ?? [];
    const { v1alpha3: configs } = world;
    if (configs === undefined) return routersHaveNone;
    return new Map(
      [...new Set(ports)].map((port) => [String(port), routeConfig(gatewayHosts(world, configs, node, port))]),
    );
  }
  return new Map(
    [false, true].flatMap((v2Names) => {
      const tables = tablesFor({ world, node, instances, v2Names });
      const colon = v2Names ? ":" : "";
      const ports = [...tables].map(([port, hosts]) => [`${colon}${port}`, routeConfig(hosts)] as const);
      return [...ports, [`${colon}${httpProxyTable}`, routeConfig(joinedTable(tables))] as const];
    }),
  );
}

function tablesFor(asker: Asker): RouteTables {
  if (asker.node.type !== "ingress") return outboundTables(asker);
  const { plain, tls } = ingressTables(asker.world, asker.node, asker.v2Names);
  return new Map([
    [80, plain],
    [443, tls],
  ]);
}

const routersHaveNone = { error: "unrecognized node type" };

/** Gateways were served over v1 by release 0.7 only. */
function routerRoutes(
  world: LegacyWorld,
  node: NodeId,
  table: string,
  problem: string | undefined,
): RouteConfig | { readonly error: string } {
  if (world.v1alpha3 === undefined) return routersHaveNone;
  if (problem !== undefined) return { error: `parsing routeName ${JSON.stringify(table)} as number: ${problem}` };
  return routeConfig(gatewayHosts(world, world.v1alpha3, node, Number(table)));
}
