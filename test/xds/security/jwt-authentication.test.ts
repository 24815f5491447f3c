import { describe, expect, it } from "vitest";
import { fieldsOf, listOf } from "../../../lib/base/untyped.ts";
import { remoteKeysAnnotation } from "../../../lib/config/kinds/remote-keys.ts";
import type { JWTRule } from "../../../lib/config/kinds/request-authentication.ts";
import { jwtAuthentication, type TokenOptions } from "../../../lib/xds/security/jwt-authentication.ts";
import { providerLookups } from "../../../lib/xds/telemetry/provider-cluster.ts";
import { settingsOf } from "../../mesh/plain-settings.ts";
import { config } from "../policy-parts.ts";
import { service } from "../world-parts.ts";

const filterOf = (rules: readonly JWTRule[], options: Partial<TokenOptions> = {}) =>
  jwtAuthentication([config("RequestAuthentication", "ra", { jwtRules: rules })], {
    clearsRouteCache: false,
    keySets: undefined,
    ...options,
  });

describe("jwtAuthentication", () => {
  it("makes no filter without a rule", () => {
    expect(filterOf([])).toEqual({ value: undefined, diagnostics: [] });
  });

  it("numbers providers by issuer, keeping the order of those with one issuer", () => {
    const text = JSON.stringify(
      filterOf([
        { issuer: "z", jwks: "1" },
        { issuer: "a", jwks: "2" },
        { issuer: "z", jwks: "3" },
      ]).value,
    );
    expect(text.match(/"inlineString":"(\d)"/g)?.map((found) => found.at(-2))).toEqual(["2", "1", "3"]);
  });

  it("lets a request without a token pass, one provider or several", () => {
    expect(filterOf([{ issuer: "a", jwks: "1" }]).value?.typedConfig).toMatchObject({
      rules: [{ requires: { requiresAny: { requirements: [{ providerName: "origins-0" }, { allowMissing: {} }] } } }],
    });
  });

  it("insists on the token of each rule that requires one, and on no other", () => {
    const requires = (...rules: readonly JWTRule[]) => {
      const config: unknown = filterOf(rules.map((rule) => ({ jwks: "1", ...rule }))).value?.typedConfig;
      return fieldsOf(listOf(fieldsOf(config).rules)[0]).requires;
    };
    const [first, second, third] = [0, 1, 2].map((at) => ({ providerName: `origins-${at}` }));
    const none = (provider: unknown, allow = "allowMissing") => ({
      requiresAny: { requirements: [provider, { [allow]: {} }] },
    });
    const needed = { presence: "REQUIRED" } as const;
    const inHeader = { fromHeaders: [{ name: "x-token" }] };
    expect(requires({ issuer: "a", ...needed })).toEqual(first);
    expect(requires({ issuer: "a", ...needed }, { issuer: "b", ...needed })).toEqual({
      requiresAll: { requirements: [first, second] },
    });
    // An optional token of a place of its own may be missing, and may not be bad.
    expect(requires({ issuer: "a", ...inHeader }, { issuer: "b", ...needed })).toEqual({
      requiresAll: { requirements: [second, none(first)] },
    });
    // Where the required token may lie it looks bad to the optional rule.
    expect(requires({ issuer: "a" }, { issuer: "b", ...needed }, { issuer: "c", ...inHeader })).toEqual({
      requiresAll: { requirements: [second, none(third), none(first, "allowMissingOrFailed")] },
    });
    expect(requires({ issuer: "a", presence: "OPTIONAL" })).toEqual(none(first));
  });

  it("clears the route cache at gateways only", () => {
    const rules = [{ issuer: "a", jwks: "1" }];
    expect(JSON.stringify(filterOf(rules, { clearsRouteCache: true }).value)).toContain('"clearRouteCache":true');
    expect(JSON.stringify(filterOf(rules).value)).not.toContain("clearRouteCache");
  });

  it("refuses every token of an issuer whose keys only an address names, and says so", () => {
    const stage = filterOf([{ issuer: "a", jwksUri: "https://a.example/keys" }]);
    expect(JSON.stringify(stage.value)).toContain("0xObjM0UvS_oaazjpEYl");
    expect(stage.diagnostics).toMatchObject([{ code: "jwks-not-fetched", path: ["spec", "jwtRules", 0, "jwksUri"] }]);
  });

  it("lets the proxy fetch keys from a service of the mesh", () => {
    const keys = service("keys");
    const keySets = providerLookups({
      mesh: settingsOf(),
      servicesOfHost: (host) => (host === keys.hostname ? [keys] : []),
    });
    const rule = { issuer: "a", jwksUri: `http://${keys.hostname}:8000/certs`, timeout: "2s" };
    const stage = filterOf([rule], { keySets });
    expect(stage.diagnostics).toEqual([]);
    expect(stage.value?.typedConfig).toMatchObject({
      providers: {
        "origins-0": {
          remoteJwks: {
            httpUri: { uri: rule.jwksUri, cluster: `outbound|8000||${keys.hostname}`, timeout: "2s" },
            cacheDuration: "300s",
          },
        },
      },
    });
    expect(filterOf([{ issuer: "a", jwksUri: "https://elsewhere.example/" }], { keySets }).diagnostics).toHaveLength(1);
  });
});

describe("a rule whose keys are left to its proxies", () => {
  const keySets = providerLookups({ mesh: settingsOf(), servicesOfHost: () => [] });
  const left = (issuers: string, rule: JWTRule) =>
    jwtAuthentication(
      [
        config(
          "RequestAuthentication",
          "ra",
          { jwtRules: [rule] },
          { annotations: { [remoteKeysAnnotation]: issuers } },
        ),
      ],
      { clearsRouteCache: false, keySets },
    );

  it.each(["*", "https://b.example, https://a.example"])("has them fetched from whom it names, by %s", (issuers) => {
    const rule = { issuer: "https://a.example", jwksUri: "https://keys.example:8443/jwks", resolvedJwks: "old" };
    const { value, diagnostics } = left(issuers, rule);
    expect(diagnostics).toEqual([]);
    expect(value?.typedConfig).toMatchObject({
      providers: {
        "origins-0": {
          remoteJwks: { httpUri: { uri: rule.jwksUri, cluster: "jwks|8443||keys.example", timeout: "5s" } },
        },
      },
    });
  });

  it("refuses every token where they would come over clear text, and says so", () => {
    const { value, diagnostics } = left("*", { issuer: "a", jwksUri: "http://keys.example/jwks", resolvedJwks: "old" });
    expect(JSON.stringify(value)).toContain("0xObjM0UvS_oaazjpEYl");
    expect(diagnostics).toMatchObject([{ code: "jwks-not-fetched", message: expect.stringContaining("https alone") }]);
  });

  it("is no other rule of the object, and none without a URL", () => {
    for (const rule of [
      { issuer: "https://c.example", jwksUri: "https://c.example/jwks" },
      { issuer: "https://a.example" },
    ])
      expect(JSON.stringify(left("https://a.example", { ...rule, resolvedJwks: "found" }).value)).toContain("found");
  });
});

describe("a rule that Envoy would refuse, with the whole listener", () => {
  it("refuses every token, and says so", () => {
    const stage = filterOf([{ issuer: "a", jwks: "1", fromHeaders: [{ name: "no\nname" }] }]);
    expect(JSON.stringify(stage.value)).toContain("0xObjM0UvS_oaazjpEYl");
    expect(JSON.stringify(stage.value)).not.toContain("fromHeaders");
    expect(stage.diagnostics).toMatchObject([{ code: "security-closed", path: ["spec", "jwtRules", 0] }]);
  });

  it("is made and held against Envoy's rules once", () => {
    let read = 0;
    const rule = {
      issuer: "a",
      jwks: "1",
      get forwardOriginalToken() {
        read += 1;
        return true;
      },
    };
    filterOf([rule]);
    expect(read).toBe(1);
  });
});
