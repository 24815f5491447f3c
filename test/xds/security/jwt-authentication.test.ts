import { describe, expect, it } from "vitest";
import { defaultMeshConfig } from "../../../lib/config/kinds/mesh-config.ts";
import type { JWTRule } from "../../../lib/config/kinds/request-authentication.ts";
import { jwtAuthentication, type TokenOptions } from "../../../lib/xds/security/jwt-authentication.ts";
import { providerLookups } from "../../../lib/xds/telemetry/provider-cluster.ts";
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
      mesh: defaultMeshConfig,
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
