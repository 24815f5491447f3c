import type { RouteJson } from "../../../gen/envoy/config/route/v3/route_components_pb.ts";
import type { ConfigKey } from "../../base/diagnostic.ts";
import type { Destination, VirtualService } from "../../config/kinds/virtual-service.ts";
import { trackedQuery } from "../../incremental/tracked-query.ts";
import type { MeshDestinationRule } from "../../mesh/index/destination-rule-index.ts";
import type { MeshVirtualService } from "../../mesh/index/virtual-service-index.ts";
import { virtualServiceRoutes } from "./http-route.ts";
import type { RouteScope } from "./route-scope.ts";
import type { TableContext, TableSettings } from "./table-context.ts";

/** Routes of a VirtualService in one scope, and the objects that they were made from. */
export interface ScopedRoutes {
  readonly routes: readonly RouteJson[];
  readonly from: readonly ConfigKey[];
}

interface Inputs {
  readonly settings: TableSettings;
  readonly virtualService: MeshVirtualService;
}

/**
 * Most routes read only their destinations from the scope. The tables of all ports and gateways share such routes, and a change
 * of another object keeps them and their virtual hosts.
 */
const routesAt = trackedQuery(
  "routes of a virtual service",
  ({ settings, virtualService }: Inputs, routeScope: RouteScope): ScopedRoutes => {
    const { config, from } = virtualService;
    const hashRules = hashRulesOf(config.spec, routeScope);
    return {
      routes: virtualServiceRoutes(virtualService, { routeScope, settings, hashRules }),
      from: hashRules.size === 0 ? from : [...from, ...[...hashRules.values()].flatMap((rule) => rule.from)],
    };
  },
  {
    port: true,
    terminatesTls: true,
    gateway: true,
    sourceLabel: true,
    sourceNamespace: true,
    hashRule: true,
    externalName: true,
    onlyPort: true,
  },
);

/** The routes of a VirtualService in one scope: one object for all scopes that answer its reads alike. */
export function scopedRoutes(
  virtualService: MeshVirtualService,
  routeScope: RouteScope,
  { settings, memo }: Pick<TableContext, "settings" | "memo">,
): ScopedRoutes {
  return routesAt(memo, { settings, virtualService }, routeScope).value;
}

/** The rules of hosts of destinations and mirrors, in order; of most hosts there is none. */
export function hashRulesOf(
  { http }: Pick<VirtualService, "http">,
  routeScope: RouteScope,
): ReadonlyMap<string, MeshDestinationRule> {
  let byHost: Map<string, MeshDestinationRule> | undefined;
  const add = ({ host }: Destination): void => {
    const rule = routeScope.hashRule(host);
    if (rule === undefined) return;
    byHost ??= new Map();
    byHost.set(host, rule);
  };
  for (const { route, mirror, mirrors } of http ?? []) {
    for (const { destination } of route ?? []) add(destination);
    for (const { destination } of mirrors ?? []) add(destination);
    if (mirror !== undefined) add(mirror);
  }
  return byHost ?? noRules;
}

const noRules: ReadonlyMap<string, MeshDestinationRule> = new Map();
