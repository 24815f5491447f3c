import { byCodePoint } from "../../base/diagnostic.ts";
import { durationMs } from "../../base/duration.ts";
import type { Config } from "../../config/config.ts";
import type {
  HTTPFaultInjection,
  HTTPMatchRequest,
  HTTPRoute,
  VirtualService,
} from "../../config/kinds/virtual-service.ts";
import type { Labels } from "../../legacy/service-key.ts";
import type { BuiltCluster } from "../clusters/clusters.ts";
import type { HeaderMatch, HttpFilter, Route } from "../documents.ts";
import type { V1Alpha3Configs } from "../legacy-world.ts";
import { faultFilter } from "../listeners/fault-filter.ts";
import { headerMatch } from "../routes/route-match.ts";
import { type BuiltRoute, corsOf, decoratorOf, optionalText, retryPolicy } from "../routes/rule-route.ts";
import { anyLabels, type RunsHere } from "../runs-here.ts";
import { fullName, subsetLabels } from "./v1alpha3.ts";

/** What the routes of a virtual service depend on beside the object. */
export interface VirtualServiceContext {
  readonly configs: V1Alpha3Configs;
  readonly here: RunsHere;
  /** DNS domain of the proxy. */
  readonly domain: string;
  cluster(hostname: string, labels: Labels | undefined): BuiltCluster;
}

/** The routes of a virtual service over v1, one for each match whose source one of the instances is. */
export function virtualServiceRoutes(
  config: Config<VirtualService>,
  context: VirtualServiceContext,
): readonly BuiltRoute[] {
  return (config.spec.http ?? []).flatMap((http) => {
    const matches = http.match ?? [];
    if (matches.length === 0) return [httpRoute(config, http, undefined, context)];
    return matches
      .filter((match) => context.here.carries(match.sourceLabels ?? anyLabels))
      .map((match) => httpRoute(config, http, match, context));
  });
}

/** The routes of the workload's own side: matches only, all of them to the workload. */
export function inboundRoutesOf(config: Config<VirtualService>, cluster: string): readonly Route[] {
  return (config.spec.http ?? []).flatMap((http) => {
    const matches = http.match ?? [];
    return (matches.length === 0 ? [undefined] : matches).map((match): Route => {
      const { headers, ...path } = matchOf(match);
      const rewritten = http.rewrite?.uri ?? "";
      return {
        ...(rewritten === ""
          ? path
          : { prefix: rewritten, ...(path.regex === undefined ? {} : { regex: path.regex }) }),
        cluster,
        ...(headers === undefined ? {} : { headers }),
        timeout_ms: 0,
        ...(http.websocketUpgrade === true ? { use_websocket: true } : decoratorOf(config)),
      };
    });
  });
}

function httpRoute(
  config: Config<VirtualService>,
  http: HTTPRoute,
  match: HTTPMatchRequest | undefined,
  context: VirtualServiceContext,
): BuiltRoute {
  const { domain, configs } = context;
  const clusterOf = (host: string, subset: string | undefined): BuiltCluster => {
    const hostname = fullName(host, domain);
    return context.cluster(hostname, subsetLabels(configs, hostname, subset, domain));
  };
  const targets = http.redirect === undefined ? (http.route ?? []) : [];
  const clusters = targets.map(({ destination }) => clusterOf(destination.host, destination.subset));
  const mirrored = http.mirror === undefined ? [] : [clusterOf(http.mirror.host, http.mirror.subset)];
  const { headers, ...path } = matchOf(match);
  const appended = Object.entries(http.appendHeaders ?? {}).map(([key, value]) => ({ key, value }));
  const [first] = clusters;
  const single = clusters.length === 1 && first !== undefined ? { cluster: first.cluster.name } : undefined;
  const weights = clusters.map(({ cluster }, index) => ({ name: cluster.name, weight: targets[index]?.weight ?? 0 }));
  const { fault } = http;
  return {
    route: {
      ...path,
      ...optionalText("prefix_rewrite", http.rewrite?.uri),
      ...optionalText("host_rewrite", http.rewrite?.authority),
      ...optionalText("path_redirect", http.redirect?.uri),
      ...optionalText("host_redirect", http.redirect?.authority),
      ...(http.redirect === undefined ? (single ?? { weighted_clusters: { clusters: weights } }) : {}),
      ...(headers === undefined ? {} : { headers }),
      timeout_ms: http.timeout === undefined ? 0 : Math.max(Math.trunc(durationMs(http.timeout)), 0),
      ...retryPolicy(http.retries?.attempts, http.retries?.perTryTimeout),
      ...(http.websocketUpgrade === true ? { use_websocket: true } : {}),
      ...mirrored.reduce((_, { cluster }) => ({ shadow: { cluster: cluster.name } }), {}),
      ...(appended.length === 0 ? {} : { request_headers_to_add: appended }),
      ...(http.corsPolicy === undefined ? {} : { cors: corsOf(http.corsPolicy) }),
      ...decoratorOf(config),
    },
    clusters: [...clusters, ...mirrored],
    faults: fault === undefined ? [] : clusters.flatMap(({ cluster }) => faultOf(cluster.name, fault, headers) ?? []),
  };
}

/** A share of 0 means all requests here. */
function faultOf(
  cluster: string,
  { abort, delay }: HTTPFaultInjection,
  headers: readonly HeaderMatch[] | undefined,
): HttpFilter | undefined {
  const whole = (percent: number | undefined): number => Math.trunc(percent ?? 0) || 100;
  const delays = delay?.fixedDelay !== undefined && Math.trunc(durationMs(delay.fixedDelay)) > 0;
  return faultFilter(
    cluster,
    {
      ...(abort === undefined ? {} : { abort: { ...abort, percent: whole(abort.percent) } }),
      ...(delay === undefined || !delays ? {} : { delay: { ...delay, percent: whole(delay.percent) } }),
    },
    headers,
  );
}

type Match = Pick<Route, "path" | "prefix" | "regex" | "headers">;

function matchOf(match: HTTPMatchRequest | undefined): Match {
  if (match === undefined) return { prefix: "/" };
  const headers = Object.entries(match.headers ?? {})
    .map(([name, value]) => headerMatch(name, value))
    .sort((a, b) => byCodePoint(a.name, b.name) || byCodePoint(a.value, b.value));
  if (match.method !== undefined) headers.push(headerMatch(":method", match.method));
  if (match.authority !== undefined) headers.push(headerMatch(":authority", match.authority));
  if (match.scheme !== undefined) headers.push(headerMatch(":scheme", match.scheme));
  return { ...pathOf(match), ...(headers.length === 0 ? {} : { headers }) };
}

function pathOf({ uri }: HTTPMatchRequest): Match {
  if (uri?.exact !== undefined) return { path: uri.exact };
  if (uri?.regex !== undefined) return { regex: uri.regex };
  return { prefix: uri?.prefix ?? "/" };
}
