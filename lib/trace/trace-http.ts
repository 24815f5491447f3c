import type { VirtualHostJson } from "../../gen/envoy/config/route/v3/route_components_pb.ts";
import type { RouteConfigurationJson } from "../../gen/envoy/config/route/v3/route_pb.ts";
import type { HttpConnectionManagerJson } from "../../gen/envoy/extensions/filters/network/http_connection_manager/v3/http_connection_manager_pb.ts";
import { type ChosenRoute, chooseRoutes } from "./choose-routes.ts";
import { type Decision, decided, type End, percent, type Trace, type Way } from "./decision.ts";
import type { NodeResources } from "./node-resources.ts";
import { readPath } from "./path.ts";
import { clusterShares, locationOf, mirrorsOf, rewrittenBy, statusOfRedirect } from "./route-action.ts";
import type { RoutedRequest } from "./route-match.ts";
import type { ReadRegex } from "./string-match.ts";
import { throughCluster } from "./trace-cluster.ts";
import type { HttpRequest, TracedRequest } from "./traced-request.ts";
import { chooseVirtualHost, withoutPort } from "./virtual-host.ts";

/** What an HTTP connection manager works with. */
export interface HttpStep {
  readonly resources: NodeResources;
  readonly request: TracedRequest;
  readonly http: HttpRequest;
  readonly settings: HttpConnectionManagerJson;
  /** Whether its own side of the connection is TLS. */
  readonly isTls: boolean;
  readonly readRegex: ReadRegex;
}

/** From an HTTP connection manager on. */
export function throughHttp(step: HttpStep): Trace {
  const { resources, settings } = step;
  const httpFilters = (settings.httpFilters ?? []).map(({ name = "" }) => name);
  const ended = (decisions: readonly Decision[], end: End): Trace => ({ decisions, httpFilters, ways: [onlyWay(end)] });
  const asked = routedRequest(step);
  if ("end" in asked) return ended([], asked.end);
  const { table, decision } = tableOf(resources, settings);
  if (table === undefined) return ended([decision], { kind: "response", status: 404, why: "there is no route table" });
  const { request } = asked;
  const chosen = chooseVirtualHost(table, request.headers.get(":authority") ?? "");
  const decisions = [decision, chosen.decision];
  if (chosen.host === undefined)
    return ended(decisions, { kind: "response", status: 404, why: "no virtual host fits" });
  const secured = toTls(chosen.host, request);
  if (secured !== undefined) return ended(decisions, secured);
  const context = {
    request,
    readRegex: step.readRegex,
    ignorePathParameters: table.ignorePathParametersInPathMatching === true,
  };
  const host = chosen.host;
  const ways = chooseRoutes(table.name ?? "", host, context).flatMap((route) => waysOf(step, host, request, route));
  return { decisions, httpFilters, ways };
}

const onlyWay = (end: End): Way => ({ sharePercent: 100, decisions: [], rewritten: {}, mirrors: [], end });

/** The request as routes see it, or the answer before. */
function routedRequest({
  http,
  settings,
  isTls,
  request,
}: HttpStep): { readonly request: RoutedRequest } | { readonly end: End } {
  const read = readPath(http.path, settings);
  if (read.kind === "refused") return { end: { kind: "response", status: 400, why: read.why } };
  if (read.kind === "redirect") return { end: { kind: "redirect", status: 307, location: read.path } };
  const keepsScheme = settings.useRemoteAddress !== true || (settings.xffNumTrustedHops ?? 0) > 0;
  const said = keepsScheme ? http.headers.get("x-forwarded-proto") : undefined;
  const scheme = said ?? (isTls ? "https" : "http");
  const pseudo = [
    [":method", http.method],
    [":path", read.path],
    [":authority", strippedAuthority(http.authority, settings, request.destination.port)],
    [":scheme", scheme],
    ["x-forwarded-proto", scheme],
  ] as const;
  const headers = new Map([...http.headers, ...pseudo]);
  return {
    request: {
      method: http.method,
      path: read.path,
      headers,
      hasCertificate: isTls && request.tls?.hasCertificate === true,
    },
  };
}

function strippedAuthority(authority: string, settings: HttpConnectionManagerJson, port: number): string {
  const { stripAnyHostPort, stripMatchingHostPort, stripTrailingHostDot } = settings;
  const isMatching = stripMatchingHostPort === true && authority.endsWith(`:${port}`);
  const host = stripAnyHostPort === true || isMatching ? withoutPort(authority) : authority;
  return stripTrailingHostDot === true ? host.replace(/\.(:\d+)?$/, "$1") : host;
}

interface FoundTable {
  readonly table?: RouteConfigurationJson;
  readonly decision: Decision;
}

function tableOf({ routes }: NodeResources, { rds, routeConfig, scopedRoutes }: HttpConnectionManagerJson): FoundTable {
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

/** A virtual host for TLS only sends others there. */
function toTls({ requireTls }: VirtualHostJson, { headers, path }: RoutedRequest): End | undefined {
  if (requireTls === undefined || requireTls === "NONE" || headers.get(":scheme") === "https") return undefined;
  if (requireTls === "EXTERNAL_ONLY" && headers.get("x-envoy-internal") === "true") return undefined;
  return { kind: "redirect", status: 301, location: `https://${headers.get(":authority") ?? ""}${path}` };
}

function waysOf(step: HttpStep, host: VirtualHostJson, request: RoutedRequest, chosen: ChosenRoute): readonly Way[] {
  const { share, decision, route, isUncertain } = chosen;
  const way = { sharePercent: percent(share), decisions: [decision], rewritten: {}, mirrors: [] };
  if (isUncertain) return [{ ...way, end: { kind: "not known", why: decision.why } }];
  if (route === undefined) return [{ ...way, end: { kind: "response", status: 404, why: "no route fits" } }];
  if (route.redirect !== undefined) {
    const { redirect } = route;
    return [
      {
        ...way,
        end: { kind: "redirect", status: statusOfRedirect(redirect), location: locationOf(redirect, route, request) },
      },
    ];
  }
  if (route.directResponse !== undefined)
    return [
      { ...way, end: { kind: "response", status: route.directResponse.status ?? 200, why: "the route answers" } },
    ];
  const action = route.route;
  if (action === undefined)
    return [{ ...way, end: { kind: "not known", why: "the route leads to a filter or to a program without Envoy" } }];
  const missingStatus =
    action.clusterNotFoundResponseCode === "NOT_FOUND"
      ? 404
      : action.clusterNotFoundResponseCode === "INTERNAL_SERVER_ERROR"
        ? 500
        : 503;
  const shares = clusterShares(action, request);
  if (shares.length === 0)
    return [
      { ...way, end: { kind: "response", status: missingStatus, why: "the route names no cluster for this request" } },
    ];
  return shares.map(({ share: part, cluster, why, hostRewrite }): Way => {
    const onward = throughCluster(step.resources, step.request, {
      name: cluster,
      why,
      missingStatus,
      unavailable: (status, words) => ({ kind: "response", status, why: words }),
    });
    return {
      sharePercent: percent(share * part),
      decisions: [decision, ...onward.decisions],
      rewritten: rewrittenBy(route, request, { written: step.http.path, hostRewrite }),
      mirrors: mirrorsOf(action, host),
      end: onward.end,
    };
  });
}
