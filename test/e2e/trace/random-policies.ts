import type { CidrRangeJson } from "../../../gen/envoy/config/core/v3/address_pb.ts";
import type { FilterChainJson, FilterJson } from "../../../gen/envoy/config/listener/v3/listener_components_pb.ts";
import type { PermissionJson, PolicyJson, PrincipalJson, RBACJson } from "../../../gen/envoy/config/rbac/v3/rbac_pb.ts";
import type { HeaderMatcherJson, RouteJson } from "../../../gen/envoy/config/route/v3/route_components_pb.ts";
import type { RouteConfigurationJson } from "../../../gen/envoy/config/route/v3/route_pb.ts";
import type {
  JwtAuthenticationJson,
  JwtProviderJson,
  JwtRequirementJson,
} from "../../../gen/envoy/extensions/filters/http/jwt_authn/v3/config_pb.ts";
import type {
  HttpConnectionManagerJson,
  HttpFilterJson,
} from "../../../gen/envoy/extensions/filters/network/http_connection_manager/v3/http_connection_manager_pb.ts";
import type { StringMatcherJson } from "../../../gen/envoy/type/matcher/v3/string_pb.ts";
import type { NodeResources } from "../../../lib/trace/node-resources.ts";

const type = (message: string, settings: object = {}) => ({
  "@type": `type.googleapis.com/envoy.${message}`,
  ...settings,
});
const http = (message: string, settings: object = {}) => type(`extensions.filters.http.${message}`, settings);

/** Who clients of these tests may be. */
export const identities = ["spiffe://td/ns/a/sa/x", "spiffe://td/ns/a/sa/y", "spiffe://td/ns/b/sa/x"] as const;

/** What tokens of these tests may say. */
export const randomClaims = (pick: <T>(...list: readonly [T, ...T[]]) => T) => ({
  iss: pick("issuer-a", "issuer-b", "issuer-c"),
  sub: pick("jo", "kim"),
  ...pick<object>({}, { aud: "shop" }, { aud: ["web", "https://shop/"] }),
  ...pick<object>({}, { groups: ["admins", "staff"] }, { groups: "staff" }, { groups: [] }),
  ...pick<object>({}, { scope: "read write" }, { scope: "read" }),
  ...pick<object>({}, { realm: { roles: ["admins"] } }),
  ...pick<object>({}, { level: 3, is_staff: true }),
});

/** The same resources with policies: authorization, tokens, CORS and faults that meet all requests or none. */
export function withPolicies(resources: NodeResources, random: () => number, jwks: string): NodeResources {
  const chance = (share: number) => random() < share;
  const pick = <T>(...list: readonly [T, ...T[]]): T => list[Math.floor(random() * list.length)] ?? list[0];
  const range = (addressPrefix: string, prefixLen: number): CidrRangeJson => ({ addressPrefix, prefixLen });
  const list = <T>(make: () => T): T[] => Array.from({ length: pick(1, 1, 2, 3) }, make);

  const text = (...values: readonly [string, ...string[]]): StringMatcherJson => {
    const value = pick(...values);
    return {
      ...pick<StringMatcherJson>(
        { exact: value },
        { prefix: value.slice(0, 3) },
        { suffix: value.slice(-3) },
        { contains: value.slice(-2) },
      ),
      ...(chance(0.2) ? { ignoreCase: true } : {}),
    };
  };
  const expression = (...values: readonly [string, ...string[]]): StringMatcherJson =>
    chance(0.3) ? { safeRegex: { regex: pick(".+", ".*a.*", "[a-z:/.]+") } } : text(...values);
  const header = (): HeaderMatcherJson => ({
    name: pick("x-one", "X-Two", ":method", ":authority", "host", ":path", "x-sub", "x-forwarded-for"),
    ...pick<HeaderMatcherJson>(
      { stringMatch: expression("abc", "GET", "POST", "a.test", "/a", "jo", "9.9.9.9") },
      { presentMatch: chance(0.5) },
    ),
    ...(chance(0.2) ? { invertMatch: true } : {}),
  });
  const urlPath = () => ({ path: expression("/a/b", "/ab", "/a", "/") });
  const claim = (invert = chance(0.1)) => {
    const value = (matcher: StringMatcherJson) => ({ stringMatch: matcher });
    const listed = (matcher: StringMatcherJson) => ({
      orMatch: { valueMatchers: [{ listMatch: { oneOf: value(matcher) } }, value(matcher)] },
    });
    const keys = (...path: readonly string[]) => ["payload", ...path].map((key) => ({ key }));
    return {
      filter: "envoy.filters.http.jwt_authn",
      ...pick<object>(
        { path: keys("iss"), value: value(expression("issuer-a", "issuer-b")) },
        { path: keys("sub"), value: value(expression("jo", "kim")) },
        { path: keys("groups"), value: listed(text("admins", "staff")) },
        { path: keys("scope"), value: listed(text("read", "write")) },
        { path: keys("realm", "roles"), value: listed(text("admins", "other")) },
        { path: keys("aud"), value: listed(text("shop", "web")) },
        { path: keys("is_staff"), value: { boolMatch: chance(0.5) } },
        { path: keys("level"), value: { doubleMatch: { range: { start: 1, end: pick(3, 4) } } } },
        { path: keys("groups"), value: { presentMatch: true } },
      ),
      ...(invert ? { invert: true } : {}),
    };
  };
  const shadow = () => ({
    filter: "envoy.filters.http.rbac",
    path: [{ key: `try_${pick("shadow_engine_result", "shadow_effective_policy_id")}` }],
    value: { stringMatch: pick({ exact: "allowed" }, { exact: "denied" }, { prefix: "policy-0" }) },
  });

  type Protocol = "http" | "network";
  const permission = (depth: number, protocol: Protocol): PermissionJson => {
    if (depth > 0 && chance(0.5)) {
      const rules = list(() => permission(depth - 1, protocol));
      return pick<PermissionJson>(
        { andRules: { rules } },
        { orRules: { rules } },
        { notRule: permission(depth - 1, protocol) },
      );
    }
    const template = "extensions.path.match.uri_template.v3.UriTemplateMatchConfig";
    return pick<PermissionJson>(
      { any: true },
      { any: true },
      // Envoy refuses headers in rules for connections.
      protocol === "http" ? { header: header() } : { any: true },
      { urlPath: urlPath() },
      { destinationPort: pick(80, 90) },
      { destinationPortRange: { start: 80, end: pick(81, 91) } },
      { destinationIp: pick(range("10.0.0.0", 8), range("10.0.0.1", 32), range("::", 0)) },
      { requestedServerName: expression("a.test", "b.a.test") },
      protocol === "http" ? { metadata: chance(0.3) ? shadow() : claim() } : { any: true },
      protocol === "http"
        ? {
            uriTemplate: {
              name: "template",
              typedConfig: type(template, { pathTemplate: pick("/a/*", "/**", "/a/**", "/{x}/b", "/a/{y=*}") }),
            },
          }
        : { any: true },
    );
  };
  const principal = (depth: number, protocol: Protocol): PrincipalJson => {
    if (depth > 0 && chance(0.5)) {
      const ids = list(() => principal(depth - 1, protocol));
      return pick<PrincipalJson>({ andIds: { ids } }, { orIds: { ids } }, { notId: principal(depth - 1, protocol) });
    }
    return pick<PrincipalJson>(
      { any: true },
      { any: true },
      { authenticated: chance(0.3) ? {} : { principalName: expression(...identities) } },
      { sourceIp: pick(range("240.0.0.0", 4), range("10.0.0.0", 8)) },
      { remoteIp: pick(range("240.0.0.0", 4), range("9.9.9.0", 24), range("10.0.0.0", 8)) },
      protocol === "http" ? { header: header() } : { any: true },
      { urlPath: urlPath() },
      protocol === "http" ? { metadata: claim() } : { any: true },
    );
  };
  const policy = (protocol: Protocol): PolicyJson => ({
    permissions: list(() => permission(2, protocol)),
    principals: list(() => principal(2, protocol)),
  });
  const rules = (protocol: Protocol): RBACJson => {
    const count = pick(0, 1, 1, 2, 3);
    const policies = Array.from({ length: count }, (_, at) => [`policy-${at}`, policy(protocol)] as const);
    const action = count === 0 ? "DENY" : pick("ALLOW", "ALLOW", "DENY", "DENY", "LOG");
    return { ...(action === "ALLOW" ? {} : { action }), policies: Object.fromEntries(policies) };
  };
  const rbac = (protocol: Protocol) => ({
    ...(chance(0.8) ? { rules: rules(protocol) } : {}),
    ...(chance(0.3) ? { shadowRules: rules(protocol), shadowRulesStatPrefix: "try_" } : {}),
  });

  const provider = (...issuers: readonly [JwtProviderJson, ...JwtProviderJson[]]): JwtProviderJson => ({
    ...pick(...issuers),
    ...(chance(0.2) ? { audiences: pick(["shop"], ["http://web/", "none"]) } : {}),
    localJwks: { inlineString: jwks },
    ...(chance(0.5) ? { forward: true } : {}),
    ...pick<JwtProviderJson>(
      {},
      {},
      { fromHeaders: [{ name: "x-token" }] },
      { fromHeaders: [{ name: "Authorization", valuePrefix: "Bearer " }, { name: "x-token" }] },
    ),
    payloadInMetadata: "payload",
    normalizePayloadInMetadata: { spaceDelimitedClaims: ["permission", "scope"] },
    ...(chance(0.4) ? { claimToHeaders: [{ headerName: "x-sub", claimName: "sub" }] } : {}),
    ...(chance(0.4) ? { clearRouteCache: true } : {}),
  });
  const requirement = (depth: number): JwtRequirementJson => {
    const one = pick("one", "two");
    if (depth === 0 || chance(0.4))
      return pick<JwtRequirementJson>(
        { providerName: one },
        { requiresAny: { requirements: [{ providerName: one }, { allowMissing: {} }] } },
        { requiresAny: { requirements: [{ providerName: one }, { allowMissingOrFailed: {} }] } },
        { providerAndAudiences: { providerName: one, audiences: ["shop"] } },
        { allowMissing: {} },
        {},
      );
    const requirements = [requirement(depth - 1), requirement(depth - 1)];
    return pick<JwtRequirementJson>({ requiresAny: { requirements } }, { requiresAll: { requirements } });
  };
  const tokens = (): JwtAuthenticationJson => ({
    // Which of two providers of one issuer is asked by "any" is left to a map's order in Envoy.
    providers: { one: provider({ issuer: "issuer-a" }, {}), two: provider({ issuer: "issuer-b" }) },
    rules: [
      ...(chance(0.3) ? [{ match: { prefix: pick("/a", "/ab") }, requires: requirement(1) }] : []),
      ...(chance(0.2) ? [{ match: { path: "/a" } }] : []),
      { match: { prefix: "/" }, requires: requirement(2) },
    ],
    bypassCorsPreflight: chance(0.7),
    requirementMap: { named: requirement(1) },
  });
  const fault = () => ({
    abort: { percentage: { numerator: pick(0, 100, 50) }, httpStatus: pick(503, 418) },
    headers: [header()],
  });

  const names = { rbac: "rbac", again: "rbac-again", jwt: "jwt", fault: "fault", cors: "cors" } as const;
  const filters = (): HttpFilterJson[] => [
    ...(chance(0.4) ? [{ name: names.rbac, typedConfig: { ...http("rbac.v3.RBAC"), ...rbac("http") } }] : []),
    ...(chance(0.6)
      ? [{ name: names.jwt, typedConfig: { ...http("jwt_authn.v3.JwtAuthentication"), ...tokens() } }]
      : []),
    ...(chance(0.7) ? [{ name: names.again, typedConfig: { ...http("rbac.v3.RBAC"), ...rbac("http") } }] : []),
    ...(chance(0.2)
      ? [{ name: names.fault, typedConfig: { ...http("fault.v3.HTTPFault"), ...(chance(0.3) ? fault() : {}) } }]
      : []),
    ...(chance(0.4) ? [{ name: names.cors, typedConfig: http("cors.v3.Cors") }] : []),
    { name: "router", typedConfig: http("router.v3.Router") },
  ];
  const off = type("config.route.v3.FilterConfig", { disabled: true });
  const perRoute = () =>
    Object.assign(
      {},
      chance(0.1) ? { [pick(names.rbac, names.again, names.jwt)]: off } : {},
      chance(0.1) ? { [names.again]: { ...http("rbac.v3.RBACPerRoute"), rbac: rbac("http") } } : {},
      chance(0.05) ? { [names.again]: http("rbac.v3.RBACPerRoute") } : {},
      chance(0.1)
        ? {
            [names.jwt]: {
              ...http("jwt_authn.v3.PerRouteConfig"),
              ...pick<object>({ disabled: true }, { requirementName: "named" }, { requirementName: "missing" }),
            },
          }
        : {},
      chance(0.1) ? { [names.fault]: { ...http("fault.v3.HTTPFault"), ...fault() } } : {},
      chance(0.3)
        ? {
            [names.cors]: {
              ...http("cors.v3.CorsPolicy"),
              ...pick<object>(
                { allowOriginStringMatch: [pick({ exact: "https://a.test" }, { prefix: "https://" })] },
                { allowOriginStringMatch: [{ exact: "*" }] },
                {},
              ),
              ...(chance(0.3) ? { forwardNotMatchingPreflights: chance(0.5) } : {}),
            },
          }
        : {},
    );
  const layered = <T extends object>(one: T): T => {
    const typedPerFilterConfig = perRoute();
    return Object.keys(typedPerFilterConfig).length === 0 ? one : { ...one, typedPerFilterConfig };
  };
  const route = (one: RouteJson): RouteJson => {
    const weighted = one.route?.weightedClusters;
    const match = chance(0.1) ? { ...one.match, dynamicMetadata: [claim(chance(0.3))] } : (one.match ?? {});
    const action = weighted && { weightedClusters: { clusters: (weighted.clusters ?? []).map(layered) } };
    return layered({ ...one, match, ...(action === undefined ? {} : { route: { ...one.route, ...action } }) });
  };
  const table = (one: RouteConfigurationJson): RouteConfigurationJson =>
    layered({
      ...one,
      virtualHosts: (one.virtualHosts ?? []).map((host) =>
        layered({ ...host, routes: (host.routes ?? []).map(route) }),
      ),
    });
  const network = (): FilterJson[] =>
    chance(0.3)
      ? [
          {
            name: "network-rbac",
            typedConfig: type("extensions.filters.network.rbac.v3.RBAC", { statPrefix: "x", ...rbac("network") }),
          },
        ]
      : [];
  const chain = (one: FilterChainJson): FilterChainJson => ({
    ...one,
    filters: [
      ...network(),
      ...(one.filters ?? []).map((filter) => {
        const { typedConfig } = filter;
        if (typedConfig?.["@type"]?.includes("http_connection_manager") !== true) return filter;
        const manager: HttpConnectionManagerJson = Object(typedConfig);
        const hops = chance(0.3) ? { xffNumTrustedHops: pick(1, 2) } : {};
        return { ...filter, typedConfig: { ...typedConfig, ...manager, ...hops, httpFilters: filters() } };
      }),
    ],
  });
  return {
    ...resources,
    listeners: resources.listeners.map((listener) => ({
      ...listener,
      filterChains: (listener.filterChains ?? []).map(chain),
      ...(listener.defaultFilterChain === undefined ? {} : { defaultFilterChain: chain(listener.defaultFilterChain) }),
    })),
    routes: new Map([...resources.routes].map(([name, one]) => [name, table(one)])),
  };
}
