import type { RouteConfigurationJson } from "../../gen/envoy/config/route/v3/route_pb.ts";
import type { HttpConnectionManagerJson } from "../../gen/envoy/extensions/filters/network/http_connection_manager/v3/http_connection_manager_pb.ts";
import { type Decision, decided } from "./decision.ts";
import type { NodeResources } from "./node-resources.ts";

export interface FoundTable {
  /** Absent where there is none: Envoy answers 404. */
  readonly table?: RouteConfigurationJson;
  readonly decision: Decision;
}

/** The route table of a connection manager. */
export function tableOf(
  { routes }: NodeResources,
  { rds, routeConfig, scopedRoutes }: HttpConnectionManagerJson,
): FoundTable {
  if (routeConfig !== undefined) {
    const chosen = routeConfig.name ?? "";
    return { table: routeConfig, decision: decided({ step: "route table", chosen, why: "the listener holds it" }) };
  }
  if (scopedRoutes !== undefined)
    return { decision: decided({ step: "route table", why: "tables by scope are not followed here" }) };
  const name = rds?.routeConfigName ?? "";
  const table = routes.get(name);
  if (table === undefined)
    return {
      decision: decided({
        step: "route table",
        chosen: name,
        why: "the listener names it, but the node has no such table",
      }),
    };
  const place = { type: "routes", name } as const;
  return { table, decision: decided({ step: "route table", chosen: name, place, why: "the listener names it" }) };
}
