import { describe, expect, it } from "vitest";
import { isArray, isObject, type Json } from "../../conformance/json.ts";
import { answersOf, echo, service } from "./small-program.ts";

const inbound = "xds.istio.io/grpc/lds/inbound/";
const server = `${inbound}0.0.0.0:17070`;
const manager = ["filterChains", 0, "filters", 0, "typedConfig"] as const;

const policy = (spec: object, annotations: object = {}): string => `
apiVersion: security.istio.io/v1
kind: AuthorizationPolicy
metadata: ${JSON.stringify({ name: "policy", namespace: "default", annotations })}
spec: ${JSON.stringify(spec)}
---`;

/** Names of the filters in front of the server's router, and the rules of the first. */
function filtersOf(input: string, form: "shared" | "istio" = "shared", mesh = "") {
  const answers = answersOf(echo + input, form, mesh);
  const filters = answers.at("listeners", server, ...manager, "httpFilters");
  const nameOf = (filter: Json): Json | undefined => (isObject(filter) ? filter.name : undefined);
  return {
    names: isArray(filters) ? filters.slice(0, -1).map(nameOf) : undefined,
    rules: answers.at("listeners", server, ...manager, "httpFilters", 0, "typedConfig", "rules", "policies"),
    diagnostics: answers.diagnostics,
  };
}

const nobody = { permissions: [{ notRule: { any: true } }], principals: [{ notId: { any: true } }] };

describe("listeners of a gRPC program", () => {
  it("lead to a service by its full name from anywhere, by short ones within the namespace", () => {
    expect(answersOf(echo + service("other", "10.0.0.2", "team")).names("listeners")).toEqual([
      "echo.default.svc.cluster.local:7070",
      "echo.default.svc:7070",
      "echo.default:7070",
      "echo:7070",
      "other.team.svc.cluster.local:7070",
      server,
      `${inbound}[::]:17070`,
    ]);
  });

  it("stand at the server's own addresses only in Istio's form, which makes a class of each", () => {
    expect(answersOf(echo, "istio").names("listeners")).toContain(`${inbound}10.1.0.1:17070`);
    expect(answersOf(echo).names("listeners")).not.toContain(`${inbound}10.1.0.1:17070`);
  });

  it("leave a host that really has a name its name, whatever it is short for elsewhere", () => {
    const entry = `
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: { name: echo, namespace: default }
spec: { hosts: [echo.default], resolution: STATIC, ports: [{ number: 7070, name: grpc, protocol: GRPC }], endpoints: [{ address: 192.0.2.1 }] }
`;
    const rds = ["apiListener", "apiListener", "rds", "routeConfigName"];
    expect(answersOf(echo + entry).at("listeners", "echo.default:7070", ...rds)).toBe("outbound|7070||echo.default");
  });
});

describe("authorization at a gRPC server", () => {
  it("lets nobody in by an ALLOW policy without rules", () => {
    expect(filtersOf(policy({})).names).toEqual(["envoy.filters.http.rbac"]);
    expect(filtersOf(policy({})).rules).toEqual({ "ns[default]-policy[policy]-rule[0]": nobody });
    expect(filtersOf(policy({}), "istio").names).toEqual([]);
  });

  it("denies what an external authorizer would be asked about, and says so", () => {
    const input = policy({
      action: "CUSTOM",
      provider: { name: "opa" },
      rules: [{ to: [{ operation: { paths: ["/admin"] } }] }],
    });
    const { names, rules, diagnostics } = filtersOf(input);
    expect(names).toEqual(["envoy.filters.http.rbac.DENY"]);
    expect(JSON.stringify(rules)).toContain("/admin");
    expect(diagnostics).toMatchObject([{ code: "custom-provider-unusable", path: ["spec", "action"] }]);
    expect(filtersOf(input, "istio").names).toEqual([]);
  });

  it("only tries out what is marked so", () => {
    const input = policy({ action: "DENY", rules: [{}] }, { "istio.io/dry-run": "true" });
    expect(filtersOf(input).names).toEqual([]);
    expect(filtersOf(input, "istio").names).toEqual(["envoy.filters.http.rbac.DENY"]);
  });

  it("takes `cluster.local` for the mesh's own trust domain, as proxies do", () => {
    const input = policy({ rules: [{ from: [{ source: { principals: ["cluster.local/ns/default/sa/client"] } }] }] });
    const mesh = "trustDomain: td1";
    expect(JSON.stringify(filtersOf(input, "shared", mesh).rules)).toContain("spiffe://td1/ns/default/sa/client");
    expect(JSON.stringify(filtersOf(input, "istio", mesh).rules)).toContain(
      "spiffe://cluster.local/ns/default/sa/client",
    );
  });
});
