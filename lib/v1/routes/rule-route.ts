import { durationMs } from "../../base/duration.ts";
import type { Config } from "../../config/config.ts";
import type { LegacyCorsPolicy, RouteRule } from "../../config/kinds/legacy/route-rule.ts";
import { v2ClusterName } from "../clusters/cluster-name.ts";
import { type BuiltCluster, serviceCluster } from "../clusters/clusters.ts";
import type { Cors, HttpFilter, Route } from "../documents.ts";
import type { LegacyPort, LegacyService } from "../legacy-world.ts";
import { faultFilter } from "../listeners/fault-filter.ts";
import type { RequestContext } from "../request-context.ts";
import { resolveHost } from "../resolve-host.ts";
import { routeMatch } from "./route-match.ts";

/** A route, the clusters that have to be there for it (also where it names none), and the faults of its rule. */
export interface BuiltRoute {
  readonly route: Route;
  readonly clusters: readonly BuiltCluster[];
  readonly faults: readonly HttpFilter[];
}

/** Everything to one cluster: what is left when no rule takes it. */
export function defaultRoute(built: BuiltCluster, name: string = built.cluster.name): BuiltRoute {
  return {
    route: { prefix: "/", cluster: name, timeout_ms: 0, decorator: { operation: "default-route" } },
    clusters: [built],
    faults: [],
  };
}

/** The route of a rule for one port of the service that it is about. @see docs/how-istio-does-it/legacy-v1.md#routes */
export function ruleRoute(
  config: Config<RouteRule>,
  service: Pick<LegacyService, "hostname" | "external">,
  port: LegacyPort,
  requestContext: RequestContext,
): BuiltRoute {
  const { spec: rule, meta } = config;
  const match = routeMatch(rule.match);
  const targets = targetsOf(config, service, port, requestContext);
  const mirrored =
    rule.mirror === undefined
      ? []
      : [clusterOf(resolveHost(meta, rule.mirror), rule.mirror.labels, service, port, requestContext)];
  const { headers, ...path } = match;
  const timeout = rule.httpReqTimeout?.simpleTimeout?.timeout;
  const appended = Object.entries(rule.appendHeaders ?? {}).map(([key, value]) => ({ key, value }));
  const cors = rule.corsPolicy === undefined ? {} : { cors: corsOf(rule.corsPolicy) };
  const { httpFault } = rule;
  const retries = rule.httpReqRetries?.simpleRetry;
  return {
    route: {
      ...path,
      ...optionalText("prefix_rewrite", rule.rewrite?.uri),
      ...optionalText("host_rewrite", rule.rewrite?.authority),
      ...optionalText("path_redirect", rule.redirect?.uri),
      ...optionalText("host_redirect", rule.redirect?.authority),
      ...(rule.redirect === undefined ? targets.route : withoutCluster(targets.route)),
      ...(headers === undefined ? {} : { headers }),
      timeout_ms: timeout === undefined ? 0 : Math.max(Math.trunc(durationMs(timeout)), 0),
      ...retryPolicy(retries?.attempts, retries?.perTryTimeout),
      ...(rule.websocketUpgrade === true ? { use_websocket: true } : {}),
      ...mirrored.reduce((_, { cluster }) => ({ shadow: { cluster: cluster.name } }), {}),
      ...(appended.length === 0 ? {} : { request_headers_to_add: appended }),
      ...cors,
      ...decoratorOf(config),
    },
    clusters: [...targets.clusters, ...mirrored],
    faults:
      httpFault === undefined
        ? []
        : targets.clusters.flatMap(({ cluster }) => faultFilter(cluster.name, httpFault, headers) ?? []),
  };
}

/** The name of the rule, for traces. */
export function decoratorOf(config: Config): Pick<Route, "decorator"> {
  return config.meta.name === "" ? {} : { decorator: { operation: config.meta.name } };
}

/** A rule without targets means the service itself; targets take the port's name of the rule's own service. */
function targetsOf(
  { spec, meta }: Config<RouteRule>,
  service: Pick<LegacyService, "hostname" | "external">,
  port: LegacyPort,
  requestContext: RequestContext,
): { readonly route: Pick<Route, "cluster" | "weighted_clusters">; readonly clusters: readonly BuiltCluster[] } {
  const entries = (spec.route ?? []).map((target) => {
    const hostname = target.destination === undefined ? service.hostname : resolveHost(meta, target.destination);
    return { built: clusterOf(hostname, target.labels, service, port, requestContext), weight: target.weight ?? 0 };
  });
  const clusters = entries.map(({ built }) => built);
  const [first, ...more] = clusters;
  if (first === undefined) {
    const own = clusterOf(service.hostname, undefined, service, port, requestContext);
    const name = requestContext.v2Names ? v2ClusterName(service.hostname, port.port) : own.cluster.name;
    return { route: { cluster: name }, clusters: [own] };
  }
  if (more.length === 0) return { route: { cluster: first.cluster.name }, clusters };
  const weights = entries.map(({ built, weight }) => ({ name: built.cluster.name, weight }));
  return { route: { weighted_clusters: { clusters: weights } }, clusters };
}

function clusterOf(
  hostname: string,
  labels: Readonly<Record<string, string>> | undefined,
  service: Pick<LegacyService, "external">,
  port: LegacyPort,
  requestContext: RequestContext,
): BuiltCluster {
  return serviceCluster(hostname, port, labels, service.external, requestContext.world.mesh.connectTimeoutMs);
}

function withoutCluster(route: Pick<Route, "cluster" | "weighted_clusters">): Pick<Route, "weighted_clusters"> {
  const { cluster: _cluster, ...rest } = route;
  return rest;
}

/** Retries, if there are any, of what is safe to send again. */
export function retryPolicy(
  attempts: number | undefined,
  perTryTimeout: string | undefined,
): Pick<Route, "retry_policy"> {
  if (attempts === undefined || attempts <= 0) return {};
  const ms = perTryTimeout === undefined ? 0 : Math.trunc(durationMs(perTryTimeout));
  return {
    retry_policy: {
      retry_on: "5xx,connect-failure,refused-stream",
      num_retries: attempts,
      ...(ms > 0 ? { per_try_timeout_ms: ms } : {}),
    },
  };
}

/** CORS as both generations of routing objects write it. */
export function corsOf(policy: LegacyCorsPolicy): Cors {
  const { allowOrigin = [], maxAge } = policy;
  const seconds = maxAge === undefined ? 0 : Math.trunc(durationMs(maxAge) / 1000);
  return {
    enabled: true,
    ...(policy.allowCredentials === true ? { allow_credentials: true } : {}),
    ...optionalText("allow_methods", policy.allowMethods?.join(",")),
    ...optionalText("allow_headers", policy.allowHeaders?.join(",")),
    ...optionalText("expose_headers", policy.exposeHeaders?.join(",")),
    ...(seconds === 0 ? {} : { max_age: String(seconds) }),
    ...(allowOrigin.length === 0 ? {} : { allow_origin: allowOrigin }),
  };
}

/** A member that is left out when it is empty. */
export function optionalText<Name extends string>(
  name: Name,
  value: string | undefined,
): { readonly [N in Name]?: string } {
  const member: { [N in Name]?: string } = {};
  if (value !== undefined && value !== "") member[name] = value;
  return member;
}
