import { describe, expect, it } from "vitest";
import type { FilterJson } from "../../../gen/envoy/config/listener/v3/listener_components_pb.ts";
import type { PermissionJson, RBACJson } from "../../../gen/envoy/config/rbac/v3/rbac_pb.ts";
import type { RouteJson } from "../../../gen/envoy/config/route/v3/route_components_pb.ts";
import type { RouteConfigurationJson } from "../../../gen/envoy/config/route/v3/route_pb.ts";
import type { JwtRequirementJson } from "../../../gen/envoy/extensions/filters/http/jwt_authn/v3/config_pb.ts";
import type { HttpFilterJson } from "../../../gen/envoy/extensions/filters/network/http_connection_manager/v3/http_connection_manager_pb.ts";
import { readRegex } from "../../../lib/front/tracing/read-regex.ts";
import { maxDepth } from "../../../lib/trace/filters/work.ts";
import type { NodeResources } from "../../../lib/trace/node-resources.ts";
import { trace } from "../../../lib/trace/trace.ts";
import { type RequestOptions, requestOf } from "../../../lib/trace/traced-request.ts";

const type = (message: string, settings: object = {}) => ({
  "@type": `type.googleapis.com/envoy.extensions.filters.${message}`,
  ...settings,
});
const filter = (name: string, message: string, settings: object = {}): HttpFilterJson => ({
  name,
  typedConfig: type(`http.${message}`, settings),
});
const rbac = (settings: object) => filter("rbac", "rbac.v3.RBAC", settings);
const anybody = { permissions: [{ any: true }], principals: [{ any: true }] };
const asked = (permission: PermissionJson) => ({ permissions: [permission], principals: [{ any: true }] });
const deny = (policies: RBACJson["policies"]) => rbac({ rules: { action: "DENY", policies } });
const allow = (policies: RBACJson["policies"]) => rbac({ rules: { policies } });

interface Node {
  readonly http?: readonly HttpFilterJson[];
  readonly network?: readonly FilterJson[];
  readonly routes?: readonly RouteJson[];
  readonly table?: RouteConfigurationJson;
}

const ok: RouteJson = { match: { prefix: "/" }, directResponse: { status: 200 } };

function nodeOf({ http = [], network = [], routes = [ok], table = {} }: Node): NodeResources {
  const manager = type("network.http_connection_manager.v3.HttpConnectionManager", {
    routeConfig: { ...table, name: "table", virtualHosts: [{ name: "all", domains: ["*"], routes }] },
    httpFilters: [...http, filter("router", "router.v3.Router")],
  });
  return {
    listeners: [
      {
        name: "gateway",
        address: { socketAddress: { address: "0.0.0.0", portValue: 80 } },
        filterChains: [{ filters: [...network, { name: "http", typedConfig: manager }] }],
      },
    ],
    routes: new Map(),
    clusters: new Map(),
    endpoints: new Map(),
  };
}

function ways(node: Node, url = "http://shop.test/", options: Partial<RequestOptions> = {}) {
  return trace(nodeOf(node), requestOf(url, { direction: "inbound", ...options }), readRegex).ways;
}

/** Status and what it depends on, of each way with its share. */
function ends(node: Node, url?: string, options?: Partial<RequestOptions>) {
  return ways(node, url, options).map(({ sharePercent, end, dependsOn }) => [
    sharePercent,
    end.kind === "response" ? end.status : end.kind,
    ...dependsOn,
  ]);
}

const istio = (rule: number) => `ns[shop]-policy[limits]-rule[${rule}]`;

describe("authorization in a trace", () => {
  it("names the rule that denies, and its object", () => {
    const http = [
      deny({
        [istio(0)]: asked({ urlPath: { path: { prefix: "/admin" } } }),
        [istio(1)]: asked({ header: { name: ":method", stringMatch: { exact: "DELETE" } } }),
      }),
    ];
    const [way] = ways({ http }, "http://shop.test/x", { method: "DELETE" });
    expect(way?.end).toMatchObject({
      kind: "response",
      status: 403,
      why: expect.stringContaining("shop/limits rule 1"),
    });
    expect(way?.decisions.at(-1)).toMatchObject({
      step: "HTTP filter",
      verdict: "answers",
      place: { behind: [{ kind: "object", key: "AuthorizationPolicy/shop/limits", path: ["spec", "rules", 1] }] },
      passedOver: [{ name: "shop/limits rule 0", why: 'path does not begin with "/admin"' }],
    });
    expect(ends({ http }, "http://shop.test/x")).toEqual([[100, 200]]);
  });

  it("denies what no rule allows, also where no route fits, and everything where there is no rule", () => {
    const http = [allow({ [istio(0)]: asked({ destinationPort: 81 }) })];
    expect(ends({ http, routes: [] })).toEqual([[100, 403]]);
    expect(ends({ http: [rbac({ rules: {} })] })).toEqual([[100, 403]]);
    expect(ends({ http: [rbac({})], routes: [] })).toEqual([[100, 404]]);
  });

  it("depends on what it cannot know, unless something else is certain", () => {
    const office = { directRemoteIp: { addressPrefix: "192.0.2.0", prefixLen: 24 } };
    const http = [deny({ a: { permissions: [{ any: true }], principals: [{ notId: office }] } })];
    expect(ends({ http })).toEqual([[100, 200, "the client's address"]]);
    expect(ends({ http }, undefined, { source: { address: "192.0.2.9" } })).toEqual([[100, 200]]);
    expect(ends({ http }, undefined, { source: { address: "198.51.100.1" } })).toEqual([[100, 403]]);
    expect(ends({ http: [...http, deny({ b: anybody })] })).toEqual([[100, 403, "the client's address"]]);
    const cel = { ...anybody, condition: { id: "1" } };
    expect(ends({ http: [deny({ c: cel })] })).toEqual([[100, 200, "a CEL condition"]]);
    expect(ends({ http: [deny({ c: cel, d: anybody })] })).toEqual([[100, 403]]);
  });

  it("takes the client of an address in x-forwarded-for for who it is", () => {
    const remoteIp = { addressPrefix: "203.0.113.0", prefixLen: 24 };
    const http = [allow({ a: { permissions: [{ any: true }], principals: [{ remoteIp }] } })];
    const headers = [["x-forwarded-for", "203.0.113.7"]] as const;
    expect(ends({ http }, undefined, { headers, source: { address: "10.0.0.1" } })).toEqual([[100, 200]]);
    expect(ends({ http }, undefined, { source: { address: "10.0.0.1" } })).toEqual([[100, 403]]);
  });

  it("compares paths without the parameters of their segments where the table of the route ignores them", () => {
    const http = [deny({ a: asked({ urlPath: { path: { exact: "/a/b" } } }) })];
    const table = { ignorePathParametersInPathMatching: true };
    expect(ends({ http, table }, "http://shop.test/a;v=1/b")).toEqual([[100, 403]]);
    expect(ends({ http }, "http://shop.test/a;v=1/b")).toEqual([[100, 200]]);
    expect(ends({ http, table, routes: [] }, "http://shop.test/a;v=1/b")).toEqual([[100, 404]]);
  });

  it("asks an external authorizer about what the rules in front mark", () => {
    const http = [
      rbac({
        shadowRules: {
          action: "DENY",
          policies: { "istio-ext-authz-one-x": asked({ urlPath: { path: { exact: "/asked" } } }) },
        },
        shadowRulesStatPrefix: "istio_ext_authz_",
      }),
      filter("ext_authz", "ext_authz.v3.ExtAuthz", {
        httpService: { serverUri: { cluster: "authorizer" } },
        filterEnabledMetadata: {
          filter: "envoy.filters.http.rbac",
          path: [{ key: "istio_ext_authz_shadow_effective_policy_id" }],
          value: { stringMatch: { prefix: "istio-ext-authz-one" } },
        },
      }),
    ];
    expect(ends({ http }, "http://shop.test/asked")).toEqual([[100, 200, "the external authorizer authorizer"]]);
    expect(ends({ http }, "http://shop.test/other")).toEqual([[100, 200]]);
  });

  it("closes a connection that rules for connections deny", () => {
    const network = [
      {
        name: "rbac",
        typedConfig: type("network.rbac.v3.RBAC", { rules: { action: "DENY", policies: { a: anybody } } }),
      },
    ];
    expect(ends({ network })).toEqual([[100, "closed"]]);
  });

  it("lets a route say otherwise, or switch a filter off", () => {
    const http = [{ ...deny({ a: anybody }), name: "rbac" }];
    const with_ = (setting: object): RouteJson => ({ ...ok, typedPerFilterConfig: { rbac: Object(setting) } });
    const off = { "@type": "type.googleapis.com/envoy.config.route.v3.FilterConfig", disabled: true };
    expect(ends({ http, routes: [with_(off)] })).toEqual([[100, 200]]);
    expect(ends({ http, routes: [with_(type("http.rbac.v3.RBACPerRoute"))] })).toEqual([[100, 200]]);
  });
});

describe("tokens in a trace", () => {
  const tokens = (requires: JwtRequirementJson, clearRouteCache = false) =>
    filter("jwt", "jwt_authn.v3.JwtAuthentication", {
      providers: { one: { issuer: "a", audiences: ["shop"], payloadInMetadata: "payload", clearRouteCache } },
      rules: [{ match: { prefix: "/" }, requires }],
    });
  const orNone = { requiresAny: { requirements: [{ providerName: "one" }, { allowMissing: {} }] } };
  const optional = tokens(orNone);
  const claims = { iss: "a", aud: "shop", groups: ["staff"] };

  it("are needed or not, and are judged by issuer and audience", () => {
    expect(ends({ http: [optional] })).toEqual([[100, 200]]);
    expect(ends({ http: [tokens({ providerName: "one" })] })).toEqual([[100, 401]]);
    expect(ends({ http: [optional] }, undefined, { claims })).toEqual([[100, 200]]);
    expect(ends({ http: [optional] }, undefined, { claims: { ...claims, iss: "b" } })).toEqual([[100, 401]]);
    expect(ends({ http: [optional] }, undefined, { claims: { ...claims, aud: "web" } })).toEqual([[100, 403]]);
  });

  it("are good if their signature is, where the request carries them", () => {
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
    const token = `${part({ alg: "RS256" })}.${part({ ...claims, exp: 1_700_000_000 })}.c2ln`;
    const headers = [["authorization", `Bearer ${token}`]] as const;
    const [[, status, on] = []] = ends({ http: [optional] }, undefined, { headers });
    expect([status, on]).toEqual([200, expect.stringContaining("2023-11-14T22:13:20.000Z")]);
    expect(ends({ http: [optional] }, undefined, { headers: [["authorization", "Bearer none"]] })).toEqual([
      [100, 401],
    ]);
  });

  it("give claims to authorization and to routes", () => {
    const metadata = {
      filter: "envoy.filters.http.jwt_authn",
      path: [{ key: "payload" }, { key: "groups" }],
      value: { listMatch: { oneOf: { stringMatch: { exact: "staff" } } } },
    };
    const http = [optional, allow({ a: { permissions: [{ any: true }], principals: [{ metadata }] } })];
    expect(ends({ http }, undefined, { claims })).toEqual([[100, 200]]);
    expect(ends({ http })).toEqual([[100, 403]]);
    const cleared = tokens(orNone, true);
    const routes: RouteJson[] = [
      { match: { prefix: "/", dynamicMetadata: [metadata] }, directResponse: { status: 418 } },
      ok,
    ];
    expect(ends({ http: [cleared], routes }, undefined, { claims })).toEqual([[100, 418]]);
    expect(ends({ http: [cleared], routes })).toEqual([[100, 200]]);
  });
});

describe("what else answers in a trace", () => {
  it("is a fault for a part of the requests", () => {
    const http = [filter("fault", "fault.v3.HTTPFault", { abort: { percentage: { numerator: 25 }, httpStatus: 503 } })];
    expect(ends({ http })).toEqual([
      [25, 503],
      [75, 200],
    ]);
  });

  it("is a limit, or a filter that is not followed", () => {
    const on = { defaultValue: { numerator: 100 } };
    const bucket = { maxTokens: 10, tokensPerFill: 5, fillInterval: "1s" };
    const limit = (settings: object) =>
      filter("limit", "local_ratelimit.v3.LocalRateLimit", { tokenBucket: bucket, ...settings });
    expect(ends({ http: [limit({ filterEnabled: on, filterEnforced: on })] })).toEqual([
      [100, 200, "the local rate limit (10 at once, then 5 every 1s)"],
    ]);
    expect(ends({ http: [limit({})] })).toEqual([[100, 200]]);
    expect(ends({ http: [filter("my-lua", "lua.v3.Lua")] })).toEqual([[100, 200, "the filter my-lua"]]);
  });

  it("is a redirect or a rewrite by a regular expression", () => {
    const regexRewrite = { pattern: { regex: "^/strip(/?)(.*)" }, substitution: "/\\2" };
    const routes: RouteJson[] = [{ match: { prefix: "/" }, redirect: { regexRewrite } }];
    expect(ways({ routes }, "http://shop.test/strip/x?y=1")[0]?.end).toMatchObject({
      location: "http://shop.test/x?y=1",
    });
    const rewritten = ways(
      { routes: [{ match: { prefix: "/" }, route: { cluster: "none", regexRewrite } }] },
      "http://a/strip/x",
    );
    expect(rewritten[0]?.rewritten).toEqual({ path: "/x" });
  });
});

describe("a trace through hostile rules", () => {
  it("ends, and says that it has not followed all of them", () => {
    let deep: PermissionJson = { any: true };
    for (let i = 0; i < 50_000; i++) deep = { notRule: deep };
    const [[, , on] = []] = ends({ http: [deny({ a: asked(deep) })] });
    expect(on).toBe("more rules than are followed here");
    const wide = asked({ orRules: { rules: Array.from({ length: maxDepth }, () => ({ destinationPort: 1 })) } });
    const policies = Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`p${i}`, wide]));
    const [[, , more] = []] = ends({ http: [deny(policies)] });
    expect(more).toBe("more rules than are followed here");
  });

  it("has not more ways than anybody reads, and their shares are all of the requests", () => {
    const clusters = Array.from({ length: 3_000 }, (_, i) => ({ name: `c${i}`, weight: 1 }));
    const found = ways({ routes: [{ match: { prefix: "/" }, route: { weightedClusters: { clusters } } }] });
    expect(found.length).toBe(1_001);
    expect(found.at(-1)?.end.kind).toBe("not known");
    expect(found.reduce((sum, { sharePercent }) => sum + sharePercent, 0)).toBeCloseTo(100, 0);
  });
});
