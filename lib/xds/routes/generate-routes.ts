import type { RouteConfigurationJson } from "../../../gen/envoy/config/route/v3/route_pb.ts";
import type { Stage } from "../../base/diagnostic.ts";
import type { Memo } from "../../incremental/memo.ts";
import type { RouteView } from "../../mesh/views/views.ts";
import type { Resource } from "../resource.ts";
import { gatewayTables } from "./gateway-tables.ts";
import { sidecarTables } from "./sidecar-tables.ts";
import { tableContext } from "./table-context.ts";

/**
 * The route tables of a class, before EnvoyFilters are applied.
 *
 * @param names tables that its listeners ask for; each is answered, if need be with an empty table
 * @returns one resource for each name, in their order. Tables, virtual hosts and routes keep their identity as long as the
 *   objects that they are made from do.
 * @see docs/how-istio-does-it/routes.md
 * @see istio 1.30.3 pilot/pkg/networking/core/httproute.go
 */
export function generateRoutes(
  view: RouteView,
  names: readonly string[],
  memo: Memo,
): Stage<readonly Resource<RouteConfigurationJson>[]> {
  const table = tableContext(view, memo);
  return view.proxy.type === "router"
    ? { value: gatewayTables(names, view.gateway, table), diagnostics: [] }
    : sidecarTables(names, table);
}
