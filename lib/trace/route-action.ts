import type {
  RedirectActionJson,
  RouteActionJson,
  RouteJson,
  VirtualHostJson,
} from "../../gen/envoy/config/route/v3/route_components_pb.ts";
import type { Rewritten } from "./decision.ts";
import { barePath } from "./path.ts";
import type { RoutedRequest } from "./route-match.ts";
import { withoutPort } from "./virtual-host.ts";

/** A cluster that a route leads to, for a part of its requests. */
export interface ClusterShare {
  /** Above 0, at most 1; equal parts where a hash or a header decides. */
  readonly share: number;
  readonly cluster: string;
  /** In words. */
  readonly why: string;
  /** Instead of the route's. */
  readonly hostRewrite?: string;
}

/** The clusters that a route leads to. Shares add up to 1; empty where a header that names the cluster is missing. */
export function clusterShares(route: RouteActionJson, { headers }: RoutedRequest): readonly ClusterShare[] {
  const { cluster, clusterHeader, weightedClusters } = route;
  const byHeader = (name: string) => headers.get(name.toLowerCase());
  if (cluster !== undefined) return [{ share: 1, cluster, why: "the route names it" }];
  if (clusterHeader !== undefined) {
    const named = byHeader(clusterHeader);
    return named === undefined ? [] : [{ share: 1, cluster: named, why: `header ${clusterHeader} names it` }];
  }
  const weighted = weightedClusters?.clusters ?? [];
  const total = weighted.reduce((sum, { weight = 0 }) => sum + weight, 0);
  return weighted.flatMap(
    ({ name, clusterHeader: header, weight = 0, hostRewriteLiteral }): readonly ClusterShare[] => {
      const chosen = name ?? (header === undefined ? undefined : byHeader(header));
      if (weight === 0 || chosen === undefined) return [];
      const rewrite = hostRewriteLiteral === undefined ? {} : { hostRewrite: hostRewriteLiteral };
      return [{ share: weight / total, cluster: chosen, why: `weight ${weight} of ${total}`, ...rewrite }];
    },
  );
}

/** @see envoy 1.40.0 api/envoy/config/route/v3/route_components.proto, RequestMirrorPolicy */
export function mirrorsOf(route: RouteActionJson, host: VirtualHostJson): readonly string[] {
  const policies = route.requestMirrorPolicies ?? host.requestMirrorPolicies ?? [];
  return policies.flatMap(({ cluster, runtimeFraction }) => {
    const numerator = runtimeFraction?.defaultValue === undefined ? 1 : (runtimeFraction.defaultValue.numerator ?? 0);
    return cluster === undefined || numerator === 0 ? [] : [cluster];
  });
}

/**
 * What the upstream gets in place of path and authority.
 */
export function rewrittenBy(route: RouteJson, request: RoutedRequest, more: RewriteContext): Rewritten {
  const { match = {}, route: action = {} } = route;
  const { prefixRewrite, regexRewrite } = action;
  const authority = more.hostRewrite ?? action.hostRewriteLiteral;
  const path = prefixRewrite === undefined ? request.path : withPrefix(match, request.path, prefixRewrite);
  return {
    // By a regular expression it is left open: an engine that judges need not replace.
    ...(path === more.written || regexRewrite !== undefined ? {} : { path }),
    ...(authority === undefined ? {} : { authority }),
  };
}

export interface RewriteContext {
  /** The path as the client wrote it, before it was normalised. */
  readonly written: string;
  /** Of the cluster, instead of the route's. */
  readonly hostRewrite: string | undefined;
}

/** A rewrite replaces what the match named: the prefix, or of an exact path the whole. */
function withPrefix(match: NonNullable<RouteJson["match"]>, path: string, rewrite: string): string {
  const matched = match.prefix ?? match.pathSeparatedPrefix ?? match.path ?? barePath(path);
  return rewrite + path.slice(matched.length);
}

const redirectStatus: Readonly<Record<string, number>> = {
  MOVED_PERMANENTLY: 301,
  FOUND: 302,
  SEE_OTHER: 303,
  TEMPORARY_REDIRECT: 307,
  PERMANENT_REDIRECT: 308,
};

export const statusOfRedirect = ({ responseCode = "MOVED_PERMANENTLY" }: RedirectActionJson): number =>
  redirectStatus[String(responseCode)] ?? 301;

/**
 * Where a redirect leads. An empty text is no text in protobuf.
 *
 * @see envoy 1.40.0 source/common/router/config_impl.cc, newUri
 */
export function locationOf(redirect: RedirectActionJson, { match = {} }: RouteJson, request: RoutedRequest): string {
  const { httpsRedirect, schemeRedirect = "", hostRedirect = "", portRedirect = 0, prefixRewrite = "" } = redirect;
  const { pathRedirect = "", stripQuery = false } = redirect;
  const before = request.headers.get(":scheme") ?? "http";
  const scheme = schemeRedirect || (httpsRedirect === true ? "https" : before);
  const authority = request.headers.get(":authority") ?? "";
  const kept = hostRedirect || withoutPort(authority) + (portRedirect === 0 ? keptPort(authority, before, scheme) : "");
  const host = kept + (portRedirect === 0 ? "" : `:${portRedirect}`);
  const query = request.path.slice(barePath(request.path).length);
  const own = prefixRewrite === "" ? request.path : withPrefix(match, request.path, prefixRewrite);
  const path = pathRedirect === "" ? own : pathRedirect + (pathRedirect.includes("?") ? "" : query);
  const shown = stripQuery && !pathRedirect.includes("?") ? barePath(path) : path;
  return `${scheme}://${host}${shown.startsWith("/") ? "" : "/"}${shown}`;
}

const portIn = (authority: string): string => /:\d+$/.exec(authority)?.[0] ?? "";

/** The port that a client named stays, but for the one that its scheme has anyway when that changes. */
function keptPort(authority: string, before: string, scheme: string): string {
  const port = portIn(authority);
  const isDefault = (before === "http" && port === ":80") || (before === "https" && port === ":443");
  return before !== scheme && isDefault ? "" : port;
}
