import type { RouteJson, RouteMatchJson } from "../../../gen/envoy/config/route/v3/route_components_pb.ts";
import { query } from "../../incremental/query.ts";
import { sameElements } from "../../incremental/same-elements.ts";
import { faultFilter } from "../routes/actions/fault.ts";
import type { VirtualHostPiece } from "../routes/virtual-host.ts";

/**
 * A virtual host without what makes programs refuse its table: they know no prefix that ends at a slash, and refuse settings of filters that
 * they do not have. What they only pass over stays.
 */
export const takenHost = query(
  "virtual host that gRPC takes",
  ({ piece }: { readonly piece: VirtualHostPiece }): VirtualHostPiece => {
    const { routes = [] } = piece.json;
    const taken = routes.flatMap(takenRoutes);
    return sameElements(taken, routes) ? piece : { ...piece, json: { ...piece.json, routes: taken } };
  },
);

function takenRoutes(route: RouteJson): readonly RouteJson[] {
  const known = withKnownFilters(route);
  const { pathSeparatedPrefix: prefix, ...match }: RouteMatchJson = known.match ?? {};
  if (prefix === undefined) return [known];
  return [
    { ...known, match: { ...match, path: prefix } },
    { ...known, match: { ...match, prefix: `${prefix}/` } },
  ];
}

/** Faults are the one filter of a program's listener that routes can set. */
function withKnownFilters(route: RouteJson): RouteJson {
  const { typedPerFilterConfig: filters, ...rest } = route;
  if (filters === undefined || Object.keys(filters).every((name) => name === faultFilter)) return route;
  const fault = filters[faultFilter];
  return fault === undefined ? rest : { ...rest, typedPerFilterConfig: { [faultFilter]: fault } };
}
