import type {
  RedirectActionJson,
  RouteActionJson,
  RouteJson,
  VirtualHostJson,
} from "../../gen/envoy/config/route/v3/route_components_pb.ts";
import type { RegexMatchAndSubstituteJson } from "../../gen/envoy/type/matcher/v3/regex_pb.ts";
import type { Rewritten } from "./decision.ts";
import type { Layer } from "./filters/http-filters.ts";
import { barePath } from "./path.ts";
import type { RoutedRequest } from "./route-match.ts";
import type { ReadRegex } from "./string-match.ts";
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
  /** Settings for filters that stand at the cluster's weight. */
  readonly layer: Layer;
}

/** The clusters that a route leads to. Shares add up to 1; empty where a header that names the cluster is missing. */
export function clusterShares(route: RouteActionJson, { headers }: RoutedRequest): readonly ClusterShare[] {
  const { cluster, clusterHeader, weightedClusters } = route;
  const byHeader = (name: string) => headers.get(name.toLowerCase());
  if (cluster !== undefined) return [{ share: 1, cluster, why: "the route names it", layer: undefined }];
  if (clusterHeader !== undefined) {
    const named = byHeader(clusterHeader);
    return named === undefined
      ? []
      : [{ share: 1, cluster: named, why: `header ${clusterHeader} names it`, layer: undefined }];
  }
  const weighted = weightedClusters?.clusters ?? [];
  const total = weighted.reduce((sum, { weight = 0 }) => sum + weight, 0);
  return weighted.flatMap(
    ({
      name,
      clusterHeader: header,
      weight = 0,
      hostRewriteLiteral,
      typedPerFilterConfig,
    }): readonly ClusterShare[] => {
      const chosen = name ?? (header === undefined ? undefined : byHeader(header));
      if (weight === 0 || chosen === undefined) return [];
      const rewrite = hostRewriteLiteral === undefined ? {} : { hostRewrite: hostRewriteLiteral };
      const why = `weight ${weight} of ${total}`;
      return [{ share: weight / total, cluster: chosen, why, layer: typedPerFilterConfig, ...rewrite }];
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

/** What the upstream gets in place of path and authority. A path that an extension rewrites, or an expression that cannot be read, is left open. */
export function rewrittenBy(route: RouteJson, request: RoutedRequest, more: RewriteContext): Rewritten {
  const { match = {}, route: action = {} } = route;
  const { prefixRewrite, regexRewrite, pathRewritePolicy, hostRewriteHeader, hostRewritePathRegex } = action;
  const ofPath = hostRewritePathRegex && withRegex(hostRewritePathRegex, barePath(request.path), more.readRegex);
  const ofHeader = hostRewriteHeader === undefined ? undefined : request.headers.get(hostRewriteHeader.toLowerCase());
  const authority = more.hostRewrite ?? action.hostRewriteLiteral ?? ofHeader ?? ofPath;
  const path =
    regexRewrite !== undefined
      ? withRegex(regexRewrite, request.path, more.readRegex)
      : prefixRewrite === undefined
        ? request.path
        : withPrefix(match, request.path, prefixRewrite);
  return {
    ...(path === more.written || path === undefined || pathRewritePolicy !== undefined ? {} : { path }),
    ...(authority === undefined ? {} : { authority }),
  };
}

export interface RewriteContext {
  /** The path as the client wrote it, before it was normalised. */
  readonly written: string;
  /** Of the cluster, instead of the route's. */
  readonly hostRewrite: string | undefined;
  readonly readRegex: ReadRegex;
}

/** The path without its query rewritten by an expression; undefined for one that cannot be read. */
function withRegex(
  { pattern, substitution = "" }: RegexMatchAndSubstituteJson,
  path: string,
  readRegex: ReadRegex,
): string | undefined {
  const bare = barePath(path);
  const rewritten = readRegex(pattern?.regex ?? "")?.replaceAll(bare, substitution);
  return rewritten === undefined ? undefined : rewritten + path.slice(bare.length);
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
 * @returns undefined where an expression that cannot be read says it
 * @see envoy 1.40.0 source/common/router/config_impl.cc, newUri
 */
export function locationOf(
  redirect: RedirectActionJson,
  { match = {} }: RouteJson,
  request: RoutedRequest,
  readRegex: ReadRegex,
): string | undefined {
  const { httpsRedirect, schemeRedirect = "", hostRedirect = "", portRedirect = 0, prefixRewrite = "" } = redirect;
  const { pathRedirect = "", stripQuery = false, regexRewrite } = redirect;
  const before = request.headers.get(":scheme") ?? "http";
  const scheme = schemeRedirect || (httpsRedirect === true ? "https" : before);
  const authority = request.headers.get(":authority") ?? "";
  const kept = hostRedirect || withoutPort(authority) + (portRedirect === 0 ? keptPort(authority, before, scheme) : "");
  const host = kept + (portRedirect === 0 ? "" : `:${portRedirect}`);
  const query = request.path.slice(barePath(request.path).length);
  const byPrefix = prefixRewrite === "" ? request.path : withPrefix(match, request.path, prefixRewrite);
  const own = regexRewrite === undefined ? byPrefix : withRegex(regexRewrite, request.path, readRegex);
  if (own === undefined) return undefined;
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
