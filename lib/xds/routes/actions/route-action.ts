import type {
  RouteAction_HashPolicyJson,
  RouteActionJson,
  WeightedCluster_ClusterWeightJson,
} from "../../../../gen/envoy/config/route/v3/route_components_pb.ts";
import type { ConsistentHashLB } from "../../../config/kinds/destination-rule.ts";
import type {
  Destination,
  HTTPRewrite,
  HTTPRoute,
  HTTPRouteDestination,
} from "../../../config/kinds/virtual-service.ts";
import type { RouteContext } from "../route-scope.ts";
import {
  type DestinationContext,
  destinationCluster,
  type RoutedCluster,
  routedCluster,
} from "./destination-cluster.ts";
import { destinationHash, hashPolicy } from "./hash-policy.ts";
import { type HeaderMutations, translateHeaders } from "./header-operations.ts";
import { mirrorPolicies } from "./mirror-policy.ts";
import { retryPolicy } from "./retry-policy.ts";

export interface Forwarding {
  readonly action: RouteActionJson;
  /** The one that takes every request; undefined for several with weights, and for none. */
  readonly cluster: RoutedCluster | undefined;
  /** What the only destination does to headers; several destinations carry theirs in their weights. */
  readonly mutations: HeaderMutations | undefined;
}

/**
 * The action of a route that forwards.
 *
 * @param authority host that the route's own header operations set, "" for none
 * @param path Envoy's match, for a rewrite of the Gateway API that cuts its prefix off; undefined elsewhere
 * @see docs/how-istio-does-it/routes.md#destinations
 */
export function forwarding(
  route: HTTPRoute,
  authority: string,
  gatewayApiPrefix: string | undefined,
  { routeScope, settings, hashRules }: RouteContext,
): Forwarding {
  const destinations = route.route ?? [];
  const [only] = destinations;
  const single = destinations.length === 1 && only !== undefined ? only : undefined;
  const headers = translateHeaders(single?.headers);
  const host = route.rewrite?.authority || authority || headers.authority;
  const requestMirrorPolicies = mirrorPolicies(route, routeScope);
  const hashPolicies = hashPoliciesOf(destinations, hashRules);
  const hashed = single !== undefined && consistentHash(single.destination, hashRules) !== undefined;
  const retries = retryPolicy(route.retries ?? settings.retries, hashed);
  const timeout = route.timeout ?? "0s";
  const longest = settings.proxyless
    ? { maxStreamDuration: { maxStreamDuration: timeout } }
    : { maxGrpcTimeout: timeout };
  const cluster = single && routedCluster(single.destination, routeScope);
  const action: RouteActionJson =
    cluster === undefined
      ? { weightedClusters: weightedClusters(destinations, routeScope), timeout, ...longest }
      : { cluster: cluster.name, timeout, ...longest };
  if (gatewayApiPrefix !== undefined) action.clusterNotFoundResponseCode = "INTERNAL_SERVER_ERROR";
  if (route.rewrite !== undefined) {
    Object.assign(action, pathRewrite(route.rewrite, gatewayApiPrefix));
    if (settings.headers.forwardedHost) action.appendXForwardedHost = true;
  }
  if (host !== "") action.hostRewriteLiteral = host;
  if (retries !== undefined) action.retryPolicy = retries;
  if (requestMirrorPolicies.length > 0) action.requestMirrorPolicies = requestMirrorPolicies;
  if (hashPolicies.length > 0) action.hashPolicy = hashPolicies;
  return { action, cluster, mutations: headers.mutations };
}

function pathRewrite(rewrite: HTTPRewrite, gatewayApiPrefix: string | undefined): RouteActionJson {
  const { uri = "", uriRegexRewrite: regex } = rewrite;
  if (regex !== undefined) {
    return { regexRewrite: { pattern: { regex: regex.match ?? "" }, substitution: regex.rewrite ?? "" } };
  }
  if (uri === "") return {};
  if (gatewayApiPrefix === undefined || uri !== "/") return { prefixRewrite: uri };
  // A plain rewrite of `/a` to `/` would leave two slashes in front of the rest.
  return { regexRewrite: { pattern: { regex: `^${quoted(gatewayApiPrefix)}(/?)(.*)` }, substitution: "/\\2" } };
}

function quoted(text: string): string {
  return text.replaceAll(/[\\.+*?()|[\]{}^$]/g, "\\$&");
}

/** Destinations of weight 0 get no traffic and are left out; one alone still stands in a list of weights. */
function weightedClusters(
  destinations: readonly HTTPRouteDestination[],
  context: DestinationContext,
): { clusters?: WeightedCluster_ClusterWeightJson[] } {
  const clusters: WeightedCluster_ClusterWeightJson[] = [];
  for (const { destination, weight = 0, headers } of destinations) {
    if (weight === 0) continue;
    const { mutations, authority } = translateHeaders(headers);
    const cluster: WeightedCluster_ClusterWeightJson = { name: destinationCluster(destination, context), weight };
    Object.assign(cluster, mutations);
    if (authority !== "") cluster.hostRewriteLiteral = authority;
    clusters.push(cluster);
  }
  return clusters.length === 0 ? {} : { clusters };
}

function hashPoliciesOf(
  destinations: readonly HTTPRouteDestination[],
  rules: RouteContext["hashRules"],
): RouteAction_HashPolicyJson[] {
  const policies: RouteAction_HashPolicyJson[] = [];
  if (rules.size === 0) return policies;
  for (const { destination, weight = 0 } of destinations) {
    if (destinations.length > 1 && weight === 0) continue;
    const hash = consistentHash(destination, rules);
    const policy = hash && hashPolicy(hash);
    if (policy !== undefined) policies.push(policy);
  }
  return policies;
}

/** The consistent hash of the rule behind a destination. */
function consistentHash(destination: Destination, rules: RouteContext["hashRules"]): ConsistentHashLB | undefined {
  const rule = rules.get(destination.host);
  return rule && destinationHash(rule.config.spec, destination);
}
