import type { RouteJson } from "../../../gen/envoy/config/route/v3/route_components_pb.ts";
import type { ConfigKey } from "../../base/diagnostic.ts";
import type { Destination, VirtualService } from "../../config/kinds/virtual-service.ts";
import { trackedQuery } from "../../incremental/tracked-query.ts";
import type { MeshDestinationRule } from "../../mesh/index/destination-rule-index.ts";
import type { MeshVirtualService } from "../../mesh/index/virtual-service-index.ts";
import { virtualServiceRoutes } from "./http-route.ts";
import type { RoutePlace } from "./route-place.ts";
import type { TableContext, TableSettings } from "./table-context.ts";

/** Routes of a VirtualService at one place, and the objects that they were made from. */
export interface PlacedRoutes {
  readonly routes: readonly RouteJson[];
  readonly from: readonly ConfigKey[];
}

interface Inputs {
  readonly settings: TableSettings;
  readonly virtualService: MeshVirtualService;
}

/**
 * Most routes read nothing of their place but what their destinations mean there, so that the tables of all ports and
 * gateways share them, and a change of another object leaves them, and every virtual host made from them, as they are.
 */
const routesAt = trackedQuery(
  "routes of a virtual service",
  ({ settings, virtualService }: Inputs, place: RoutePlace): PlacedRoutes => {
    const { config, from } = virtualService;
    const hashRules = hashRulesOf(config.spec, place);
    return {
      routes: virtualServiceRoutes(virtualService, { place, settings, hashRules }),
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

/** The routes of a VirtualService at one place: one object for all places that they cannot tell apart. */
export function placedRoutes(
  virtualService: MeshVirtualService,
  place: RoutePlace,
  { settings, memo }: Pick<TableContext, "settings" | "memo">,
): PlacedRoutes {
  return routesAt(memo, { settings, virtualService }, place).value;
}

/** The rules of hosts of destinations and mirrors, in order; of most hosts there is none. */
export function hashRulesOf(
  { http }: Pick<VirtualService, "http">,
  place: RoutePlace,
): ReadonlyMap<string, MeshDestinationRule> {
  let byHost: Map<string, MeshDestinationRule> | undefined;
  const add = ({ host }: Destination): void => {
    const rule = place.hashRule(host);
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
