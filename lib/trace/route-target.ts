import type { VirtualHostJson } from "../../gen/envoy/config/route/v3/route_components_pb.ts";
import type { ChosenRoute } from "./choose-routes.ts";
import type { Decision, End, Rewritten } from "./decision.ts";
import type { Layer } from "./filters/http-filters.ts";
import type { FilterContext } from "./filters/stream.ts";
import { clusterShares, locationOf, mirrorsOf, rewrittenBy, statusOfRedirect } from "./route-action.ts";
import type { RoutedRequest } from "./route-match.ts";
import { throughCluster } from "./trace-cluster.ts";

/** Where the router sends a request that has come through all filters. */
export interface Target {
  readonly decisions: readonly Decision[];
  readonly rewritten: Rewritten;
  readonly mirrors: readonly string[];
  readonly end: End;
}

/** One of the targets of a route. */
export interface RouteTarget {
  /** Of the route's requests, above 0 and at most 1. */
  readonly share: number;
  /** Settings for filters that stand at the cluster's weight. */
  readonly layer: Layer;
  /** @param request behind the filters */
  reached(request: RoutedRequest): Target;
}

/** What routers need to know beside the route. */
export interface RouterContext {
  readonly filters: FilterContext;
  readonly host: VirtualHostJson | undefined;
  /** The path as the client wrote it. */
  readonly written: string;
}

/** Where a route leads: shares add up to 1. */
export function targetsOf(chosen: ChosenRoute, request: RoutedRequest, context: RouterContext): readonly RouteTarget[] {
  const { decision, route, isUncertain, end: answer } = chosen;
  if (answer !== undefined) return [only(answer)];
  if (isUncertain) return [only({ kind: "not known", why: decision?.why ?? "" })];
  if (route === undefined) return [only({ kind: "response", status: 404, why: "no route fits" })];
  const { redirect, directResponse, route: action } = route;
  if (redirect !== undefined) {
    const status = statusOfRedirect(redirect);
    const { readRegex } = context.filters;
    const end = (now: RoutedRequest): End => {
      const location = locationOf(redirect, route, now, readRegex);
      if (location === undefined) return { kind: "not known", why: "its expression for the path cannot be read" };
      return { kind: "redirect", status, location };
    };
    return [{ share: 1, layer: undefined, reached: (now) => ended(end(now)) }];
  }
  if (directResponse !== undefined)
    return [only({ kind: "response", status: directResponse.status ?? 200, why: "the route answers" })];
  if (action === undefined)
    return [only({ kind: "not known", why: "the route leads to a filter or to a program without Envoy" })];
  const { clusterNotFoundResponseCode } = action;
  const missingStatus =
    clusterNotFoundResponseCode === "NOT_FOUND"
      ? 404
      : clusterNotFoundResponseCode === "INTERNAL_SERVER_ERROR"
        ? 500
        : 503;
  const shares = clusterShares(action, request);
  if (shares.length === 0)
    return [only({ kind: "response", status: missingStatus, why: "the route names no cluster for this request" })];
  return shares.map(
    ({ share, cluster, why, hostRewrite, layer }): RouteTarget => ({
      share,
      layer,
      reached: (now) => {
        const { resources, request: connection, readRegex } = context.filters;
        const onward = throughCluster(resources, connection, {
          name: cluster,
          why,
          missingStatus,
          unavailable: (status, words) => ({ kind: "response", status, why: words }),
        });
        return {
          ...onward,
          rewritten: rewrittenBy(route, now, { written: context.written, hostRewrite, readRegex }),
          mirrors: mirrorsOf(action, context.host ?? {}),
        };
      },
    }),
  );
}

const ended = (end: End): Target => ({ decisions: [], rewritten: {}, mirrors: [], end });

const only = (end: End): RouteTarget => ({ share: 1, layer: undefined, reached: () => ended(end) });
