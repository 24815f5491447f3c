import { describe, expect, it } from "vitest";
import type { JWTRule } from "../../../lib/config/kinds/request-authentication.ts";
import { jwtAuthentication } from "../../../lib/xds/security/jwt-authentication.ts";
import { config } from "../policy-parts.ts";

const filterOf = (rules: readonly JWTRule[], clearsRouteCache = false) =>
  jwtAuthentication([config("RequestAuthentication", "ra", { jwtRules: rules })], clearsRouteCache);

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
    expect(JSON.stringify(filterOf(rules, true).value)).toContain('"clearRouteCache":true');
    expect(JSON.stringify(filterOf(rules).value)).not.toContain("clearRouteCache");
  });

  it("refuses every token of an issuer whose keys only an address names, and says so", () => {
    const stage = filterOf([{ issuer: "a", jwksUri: "https://a.example/keys" }]);
    expect(JSON.stringify(stage.value)).toContain("0xObjM0UvS_oaazjpEYl");
    expect(stage.diagnostics).toMatchObject([{ code: "jwks-not-fetched", path: ["spec", "jwtRules", 0, "jwksUri"] }]);
  });
});
