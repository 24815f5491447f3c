import type { RouteJson, RouteMatchJson } from "../../../gen/envoy/config/route/v3/route_components_pb.ts";
import type { ConfigMeta } from "../../config/config.ts";
import type { HTTPMatchRequest, HTTPRoute } from "../../config/kinds/virtual-service.ts";
import { lazily } from "../../incremental/lazy.ts";
import type { MeshVirtualService } from "../../mesh/index/virtual-service-index.ts";
import { configPath, operationName, routeName } from "../names.ts";
import { corsConfig, corsFilter } from "./actions/cors.ts";
import type { RoutedCluster } from "./actions/destination-cluster.ts";
import { faultConfig, faultFilter } from "./actions/fault.ts";
import { appendMutations, type HeaderMutations, translateHeaders } from "./actions/header-operations.ts";
import { directResponseAction, redirectAction } from "./actions/redirect.ts";
import { forwarding } from "./actions/route-action.ts";
import { isCatchAll, routeMatch } from "./route-match.ts";
import type { RouteContext, RouteScope } from "./route-scope.ts";

/**
 * All routes of a VirtualService for one port and gateway, in the order of the object: one for each match, or one without.
 * A route that catches everything ends the list, because nothing behind it is ever reached. Empty: nothing applies here.
 *
 * @see docs/how-istio-does-it/routes.md#routes-of-a-virtualservice
 */
export function virtualServiceRoutes(virtualService: MeshVirtualService, context: RouteContext): readonly RouteJson[] {
  const { meta, spec } = virtualService.config;
  const metadata = { filterMetadata: { istio: { config: configPath(meta) } } };
  const routes: RouteJson[] = [];
  for (const http of spec.http ?? []) {
    const matches = http.match ?? [];
    const part = routePart(meta, http, metadata, context);
    if (matches.length === 0) {
      routes.push(httpRoute(part, undefined, context));
      return routes;
    }
    for (const match of matches) {
      if (!applies(match, context.routeScope)) continue;
      const route = httpRoute(part, match, context);
      routes.push(route);
      if (isCatchAll(route.match ?? {})) return routes;
    }
  }
  return routes;
}

/** A match that names gateways is decided by them alone: labels and namespace of the source are for the others. */
function applies(match: HTTPMatchRequest, routeScope: RouteScope): boolean {
  const { port = 0, gateways, sourceLabels, sourceNamespace = "" } = match;
  if (port !== 0 && port !== routeScope.port) return false;
  if (gateways !== undefined && gateways.length > 0) return gateways.includes(routeScope.gateway);
  if (sourceNamespace !== "" && sourceNamespace !== routeScope.sourceNamespace) return false;
  return (
    sourceLabels === undefined ||
    Object.entries(sourceLabels).every(([key, value]) => routeScope.sourceLabel(key) === value)
  );
}

/** One entry of a VirtualService's `http`: what all of its matches have in common is made once. */
interface RoutePart {
  readonly meta: ConfigMeta;
  readonly http: HTTPRoute;
  /** For a prefix of the Gateway API, which a rewrite may cut off; undefined elsewhere. */
  outcome(gatewayApiPrefix: string | undefined): RouteOutcome;
  readonly metadata: NonNullable<RouteJson["metadata"]>;
  readonly filters: RouteJson["typedPerFilterConfig"];
}

function routePart(
  meta: ConfigMeta,
  http: HTTPRoute,
  metadata: NonNullable<RouteJson["metadata"]>,
  context: RouteContext,
): RoutePart {
  const ofEveryMatch = lazily(() => routeOutcome(http, undefined, context));
  return {
    meta,
    http,
    outcome: (prefix) => (prefix === undefined ? ofEveryMatch() : routeOutcome(http, prefix, context)),
    metadata,
    filters: filtersOf(http),
  };
}

function filtersOf({ fault, corsPolicy }: HTTPRoute): RouteJson["typedPerFilterConfig"] {
  if (fault === undefined && corsPolicy === undefined) return undefined;
  return {
    ...(fault === undefined ? {} : { [faultFilter]: faultConfig(fault) }),
    ...(corsPolicy === undefined ? {} : { [corsFilter]: corsConfig(corsPolicy) }),
  };
}

function httpRoute(part: RoutePart, match: HTTPMatchRequest | undefined, context: RouteContext): RouteJson {
  const { meta, http, metadata, filters } = part;
  const semantics = meta.annotations["internal.istio.io/route-semantics"];
  const envoyMatch = routeMatch(match, semantics === "ingress" || semantics === "gateway");
  const outcome = part.outcome(semantics === "gateway" ? (envoyMatch.pathSeparatedPrefix ?? "") : undefined);
  const operation = operationOf(envoyMatch, outcome.cluster, meta.name, context.routeScope);
  const name = routeName(http.name, match?.name);
  const route: RouteJson = { match: envoyMatch, ...outcome.action, metadata, decorator: { operation } };
  if (name !== "") route.name = name;
  Object.assign(route, outcome.mutations);
  if (filters !== undefined) route.typedPerFilterConfig = filters;
  if (match?.statPrefix !== undefined && match.statPrefix !== "") route.statPrefix = match.statPrefix;
  return route;
}

/** What becomes of a request. */
interface RouteOutcome {
  readonly action: Pick<RouteJson, "route" | "redirect" | "directResponse">;
  /** The one cluster that takes it. */
  readonly cluster: RoutedCluster | undefined;
  readonly mutations: HeaderMutations | undefined;
}

/** A redirect wins over a direct response, both over destinations. */
function routeOutcome(http: HTTPRoute, gatewayApiPrefix: string | undefined, context: RouteContext): RouteOutcome {
  const { mutations, authority } = translateHeaders(http.headers);
  if (http.redirect !== undefined) {
    const redirect = redirectAction(http.redirect, context.routeScope);
    return { action: redirect === undefined ? {} : { redirect }, cluster: undefined, mutations };
  }
  if (http.directResponse !== undefined) {
    const directResponse = directResponseAction(http.directResponse);
    return { action: { directResponse }, cluster: undefined, mutations };
  }
  const { action, cluster, mutations: ofDestination } = forwarding(http, authority, gatewayApiPrefix, context);
  return { action: { route: action }, cluster, mutations: appendMutations(mutations, ofDestination) };
}

/**
 * Name of the operation in traces: `<host>:<port><path>` of the one cluster that takes the request; with several of them,
 * or with none, the name of the VirtualService and the table's port stand in.
 * @see docs/how-istio-does-it/routes.md#decorators
 */
function operationOf(
  match: RouteMatchJson,
  cluster: RoutedCluster | undefined,
  virtualServiceName: string,
  routeScope: Pick<RouteScope, "port">,
): string {
  const path = operationPath(match);
  // The port of the place is read only where it counts: what does not read it serves every place.
  if (cluster === undefined || cluster.host === "") return operationName(virtualServiceName, routeScope.port, path);
  return operationName(cluster.host, cluster.port, path);
}

function operationPath(match: RouteMatchJson): string {
  if (match.prefix !== undefined) return `${match.prefix}*`;
  return match.path ?? match.safeRegex?.regex ?? "/*";
}
