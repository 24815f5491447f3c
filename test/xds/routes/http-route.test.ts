import { describe, expect, it } from "vitest";
import type { HTTPRoute, VirtualService } from "../../../lib/config/kinds/virtual-service.ts";
import { noServices } from "../../../lib/xds/routes/actions/destination-cluster.ts";
import { virtualServiceRoutes } from "../../../lib/xds/routes/http-route.ts";
import type { RouteScope } from "../../../lib/xds/routes/route-scope.ts";
import { hashRulesOf } from "../../../lib/xds/routes/scoped-routes.ts";
import type { TableSettings } from "../../../lib/xds/routes/table-context.ts";
import { destinationRule, virtualService } from "./fixture.ts";

const routeScope: RouteScope = {
  ...noServices,
  port: 80,
  gateway: "mesh",
  terminatesTls: false,
  sourceLabel: (key) => (key === "app" ? "web" : undefined),
  sourceNamespace: "default",
  hashRule: () => undefined,
};

const settings: TableSettings = {
  headers: { attemptCount: true, forwardedHost: false },
  retries: { attempts: 0 },
  defaultRetry: undefined,
  proxyless: false,
};

type More = Partial<RouteScope> & Partial<Pick<TableSettings, "retries">>;

const a = { destination: { host: "a.default.svc.cluster.local" } };
const b = { destination: { host: "b.default.svc.cluster.local", subset: "v2", port: { number: 8080 } } };

function routesOf(http: readonly HTTPRoute[], more: More = {}, annotations = {}) {
  const spec: Partial<VirtualService> = { http };
  const { retries, ...there } = { retries: settings.retries, ...more };
  const at = { ...routeScope, ...there };
  const hashRules = hashRulesOf(spec, at);
  return virtualServiceRoutes(virtualService("vs", spec, annotations), {
    routeScope: at,
    settings: { ...settings, retries },
    hashRules,
  });
}

function onlyRoute(http: HTTPRoute, more: More = {}, annotations = {}) {
  const [route] = routesOf([http], more, annotations);
  return route ?? {};
}

describe("virtualServiceRoutes", () => {
  it("writes one route for each match, in order, and names them after rule and match", () => {
    const routes = routesOf([
      { name: "r", match: [{ name: "one", uri: { prefix: "/1" } }, { uri: { exact: "/2" } }], route: [a] },
      { match: [{ name: "three", uri: { prefix: "/3" } }], route: [a] },
      { route: [a] },
    ]);
    expect(routes.map((route) => route.name)).toEqual(["r.one", "r", ".three", undefined]);
    expect(routes.map((route) => route.match?.prefix ?? route.match?.path)).toEqual(["/1", "/2", "/3", "/"]);
  });

  it.each([
    { says: "no match", first: {} },
    { says: "a match of gateways only", first: { match: [{ gateways: ["mesh"] }] } },
    { says: "the path /", first: { match: [{ uri: { prefix: "/" } }, { uri: { exact: "/never" } }] } },
  ])("stops behind a rule with $says", ({ first }) => {
    expect(routesOf([{ ...first, route: [a] }, { route: [b] }])).toHaveLength(1);
  });

  it.each([
    { match: { port: 80 }, applies: true },
    { match: { port: 81 }, applies: false },
    { match: { sourceLabels: { app: "web" } }, applies: true },
    { match: { sourceLabels: { app: "api" } }, applies: false },
    { match: { sourceNamespace: "default" }, applies: true },
    { match: { sourceNamespace: "other" }, applies: false },
    { match: { gateways: ["default/gw", "mesh"] }, applies: true },
    { match: { gateways: ["default/gw"] }, applies: false },
    { match: { gateways: ["mesh"], sourceNamespace: "other", sourceLabels: { app: "api" } }, applies: true },
  ])("applies $match: $applies", ({ match, applies }) => {
    expect(routesOf([{ match: [match], route: [a] }])).toHaveLength(applies ? 1 : 0);
  });

  it("says which object a route came from", () => {
    expect(onlyRoute({ route: [a] }).metadata).toEqual({
      filterMetadata: { istio: { config: "/apis/networking.istio.io/v1/namespaces/default/virtual-service/vs" } },
    });
  });

  it.each([
    { says: "one destination", http: { route: [b] }, want: "b.default.svc.cluster.local:8080/*" },
    {
      says: "weights",
      http: {
        match: [{ uri: { exact: "/x" } }],
        route: [
          { ...a, weight: 1 },
          { ...b, weight: 1 },
        ],
      },
      want: "vs:80/x",
    },
    { says: "a redirect", http: { match: [{ uri: { prefix: "/x/" } }], redirect: { uri: "/" } }, want: "vs:80/x/*" },
    {
      says: "an answer",
      http: { match: [{ uri: { regex: "/x.+" } }], directResponse: { status: 200 } },
      want: "vs:80/x.+",
    },
  ])("names the operation of $says", ({ http, want }) => {
    expect(onlyRoute(http).decorator?.operation).toBe(want);
  });

  it("prefers a redirect to a direct response, and both to destinations", () => {
    const both = onlyRoute({ redirect: { uri: "/" }, directResponse: { status: 200 }, route: [a] });
    expect(both.redirect).toBeDefined();
    expect(both.directResponse).toBeUndefined();
    expect(both.route).toBeUndefined();
  });

  it("sends to the table's port unless destination or service tell another", () => {
    expect(onlyRoute({ route: [a] }).route?.cluster).toBe("outbound|80||a.default.svc.cluster.local");
    expect(onlyRoute({ route: [b] }).route?.cluster).toBe("outbound|8080|v2|b.default.svc.cluster.local");
    const nineThousand = { onlyPort: () => 9080 };
    expect(onlyRoute({ route: [a] }, nineThousand).route?.cluster).toBe("outbound|9080||a.default.svc.cluster.local");
  });

  it("drops destinations of weight 0 and keeps the list for the one that is left", () => {
    const route = onlyRoute({
      route: [
        { ...a, weight: 100 },
        { ...b, weight: 0 },
      ],
    });
    expect(route.route?.weightedClusters).toEqual({
      clusters: [{ name: "outbound|80||a.default.svc.cluster.local", weight: 100 }],
    });
  });

  it.each([
    { rewrite: { uri: "/b" }, want: { prefixRewrite: "/b" } },
    { rewrite: { authority: "x" }, want: { hostRewriteLiteral: "x" } },
    {
      rewrite: { uriRegexRewrite: { match: "//+", rewrite: "/" } },
      want: { regexRewrite: { pattern: { regex: "//+" }, substitution: "/" } },
    },
  ])("rewrites $rewrite", ({ rewrite, want }) => {
    expect(onlyRoute({ rewrite, route: [a] }).route).toMatchObject(want);
  });

  it("cuts a prefix of the Gateway API off without leaving two slashes", () => {
    const route = onlyRoute(
      { match: [{ uri: { prefix: "/a.b" } }], rewrite: { uri: "/" }, route: [a] },
      {},
      { "internal.istio.io/route-semantics": "gateway" },
    );
    expect(route.route?.regexRewrite).toEqual({ pattern: { regex: "^/a\\.b(/?)(.*)" }, substitution: "/\\2" });
    expect(route.route?.clusterNotFoundResponseCode).toBe("INTERNAL_SERVER_ERROR");
  });

  it("writes the timeout twice, zero for none", () => {
    expect(onlyRoute({ route: [a] }).route).toMatchObject({ timeout: "0s", maxGrpcTimeout: "0s" });
    expect(onlyRoute({ timeout: "5s", route: [a] }).route).toMatchObject({ timeout: "5s", maxGrpcTimeout: "5s" });
  });

  it("sets headers before it adds them, each sorted, and never touches pseudo headers", () => {
    const route = onlyRoute({
      headers: {
        request: {
          set: { "x-b": "2", "x-a": "" },
          add: { "x-0": "0", ":path": "/" },
          remove: ["x-c", "Host", ":method"],
        },
      },
      route: [a],
    });
    expect(route.requestHeadersToAdd).toEqual([
      { header: { key: "x-a" }, appendAction: "OVERWRITE_IF_EXISTS_OR_ADD" },
      { header: { key: "x-b", value: "2" }, appendAction: "OVERWRITE_IF_EXISTS_OR_ADD" },
      { header: { key: "x-0", value: "0" } },
    ]);
    expect(route.requestHeadersToRemove).toEqual(["x-c"]);
  });

  it.each([
    { says: "rewrite", headers: { set: { host: "h" } }, rewrite: { authority: "r" }, destination: "d", want: "r" },
    { says: "route's headers", headers: { set: { host: "h" } }, rewrite: {}, destination: "d", want: "h" },
    {
      says: "set before add",
      headers: { set: { Host: "h" }, add: { ":authority": "x" } },
      rewrite: {},
      destination: "d",
      want: "h",
    },
    { says: "destination's headers", headers: {}, rewrite: {}, destination: "d", want: "d" },
  ])("takes the host from the $says first", ({ headers, rewrite, destination, want }) => {
    const route = onlyRoute({
      headers: { request: headers },
      rewrite,
      route: [{ ...a, headers: { request: { set: { ":authority": destination } } } }],
    });
    expect(route.route?.hostRewriteLiteral).toBe(want);
  });

  it("keeps what a weighted destination does to headers with its weight", () => {
    const headers = { request: { set: { host: "d" } }, response: { remove: ["server"] } };
    const route = onlyRoute({
      route: [
        { ...a, weight: 1, headers },
        { ...b, weight: 1 },
      ],
    });
    expect(route.route?.weightedClusters?.clusters?.[0]).toEqual({
      name: "outbound|80||a.default.svc.cluster.local",
      weight: 1,
      responseHeadersToRemove: ["server"],
      hostRewriteLiteral: "d",
    });
    expect(route).not.toHaveProperty("responseHeadersToRemove");
  });

  it.each([
    { says: "everything by default", mirror: {}, want: { numerator: 100 } },
    {
      says: "fractions of a percent",
      mirror: { mirrorPercentage: { value: 0.1 } },
      want: { numerator: 1000, denominator: "MILLION" },
    },
    { says: "the deprecated whole percent", mirror: { mirrorPercent: 5 }, want: { numerator: 5 } },
    { says: "nothing for 0 %", mirror: { mirrorPercentage: {} }, want: undefined },
    { says: "nothing for whole 0 %", mirror: { mirrorPercent: 0 }, want: undefined },
  ])("mirrors $says", ({ mirror, want }) => {
    const route = onlyRoute({ mirror: b.destination, ...mirror, route: [a] });
    expect(route.route?.requestMirrorPolicies?.[0]?.runtimeFraction?.defaultValue).toEqual(want);
  });

  it("puts mirror before mirrors", () => {
    const route = onlyRoute({ mirror: b.destination, mirrors: [{ destination: a.destination }], route: [a] });
    expect(route.route?.requestMirrorPolicies?.map((policy) => policy.cluster)).toEqual([
      "outbound|8080|v2|b.default.svc.cluster.local",
      "outbound|80||a.default.svc.cluster.local",
    ]);
  });

  const byHeader = (host: string) =>
    destinationRule({ host, trafficPolicy: { loadBalancer: { consistentHash: { httpHeaderName: "x-user" } } } });
  it("hashes as the destination's rule says and retries on any host then", () => {
    const route = onlyRoute({ route: [a] }, { hashRule: byHeader, retries: undefined });
    expect(route.route?.hashPolicy).toEqual([{ header: { headerName: "x-user" } }]);
    expect(route.route?.retryPolicy).not.toHaveProperty("retryHostPredicate");
  });

  it("avoids previous hosts with several hashed destinations", () => {
    const weighted = [
      { ...a, weight: 1 },
      { ...b, weight: 1 },
    ];
    const route = onlyRoute({ route: weighted }, { hashRule: byHeader, retries: undefined });
    expect(route.route?.hashPolicy).toHaveLength(2);
    expect(route.route?.retryPolicy).toHaveProperty("retryHostPredicate");
  });

  it("has no delay for an exponential one, and no percentage for an abort that states none", () => {
    const route = onlyRoute({
      fault: { delay: { exponentialDelay: "1s" }, abort: { grpcStatus: "UNAVAILABLE" } },
      route: [a],
    });
    expect(route.typedPerFilterConfig?.["envoy.filters.http.fault"]).toEqual({
      "@type": "type.googleapis.com/envoy.extensions.filters.http.fault.v3.HTTPFault",
      abort: { grpcStatus: 14 },
    });
  });

  it("joins the lists of a CORS policy and cuts its age to seconds", () => {
    const route = onlyRoute({
      corsPolicy: {
        allowOrigins: [{ exact: "*" }, { regex: ".*[.]a" }],
        allowMethods: ["GET", "PUT"],
        maxAge: "86400s",
        allowCredentials: false,
        unmatchedPreflights: "IGNORE",
      },
      route: [a],
    });
    expect(route.typedPerFilterConfig?.["envoy.filters.http.cors"]).toEqual({
      "@type": "type.googleapis.com/envoy.extensions.filters.http.cors.v3.CorsPolicy",
      allowOriginStringMatch: [{ exact: "*" }, { safeRegex: { regex: ".*[.]a" } }],
      allowMethods: "GET,PUT",
      maxAge: "86400",
      allowCredentials: false,
      filterEnabled: { defaultValue: { numerator: 100 } },
      forwardNotMatchingPreflights: false,
    });
  });
});
