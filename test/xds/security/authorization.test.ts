import { describe, expect, it } from "vitest";
import type { AuthorizationPolicy, Rule } from "../../../lib/config/kinds/authorization-policy.ts";
import type { ExtensionProvider } from "../../../lib/config/kinds/extension-provider.ts";
import { httpAuthorization, tcpAuthorization } from "../../../lib/xds/security/authorization.ts";
import { providerLookups } from "../../../lib/xds/telemetry/provider-cluster.ts";
import { settingsOf } from "../../mesh/plain-settings.ts";
import { config } from "../policy-parts.ts";
import { service } from "../world-parts.ts";

const authz = service("authz");
const mesh = (...extensionProviders: ExtensionProvider[]) =>
  providerLookups({
    mesh: settingsOf({ extensionProviders }),
    servicesOfHost: (host) => (host === authz.hostname ? [authz] : []),
  });
/** With the switch that allows several authorizers. */
const switched = (...extensionProviders: ExtensionProvider[]) =>
  providerLookups({
    mesh: settingsOf({ extensionProviders }, "1.30", { PILOT_ENABLE_MULTIPLE_CUSTOM_AUTHZ_PROVIDERS: true }),
    servicesOfHost: (host) => (host === authz.hostname ? [authz] : []),
  });
const policy = (name: string, spec: AuthorizationPolicy, annotations = {}) =>
  config("AuthorizationPolicy", name, spec, { annotations });
const dryRun = { "istio.io/dry-run": "true" };
const grpc = { name: "opa", envoyExtAuthzGrpc: { service: "authz.default.svc.cluster.local", port: 9000 } };
const http = { name: "web", envoyExtAuthzHttp: { service: "authz.default.svc.cluster.local", port: 8000 } };
const custom = (name: string, provider: string) =>
  policy(name, { action: "CUSTOM", provider: { name: provider }, rules: [{}] });

describe("the order of filters", () => {
  it("is audit, deny, allow, with one filter for all policies of an action", () => {
    const policies = [
      policy("a1", { rules: [{}] }),
      policy("d", { action: "DENY", rules: [{}] }),
      policy("a2", { action: "ALLOW" }),
      policy("u", { action: "AUDIT", rules: [{}] }),
    ];
    const { builtIn, custom } = httpAuthorization(policies, mesh()).value;
    const actions = builtIn.map((filter) => JSON.stringify(filter).match(/"action":"(\w+)"/)?.[1]);
    expect(actions).toEqual(["LOG", "DENY", undefined]);
    expect(JSON.stringify(builtIn[2])).toContain("ns[shop]-policy[a2]-rule[0]");
    expect(custom).toEqual([]);
  });
});

describe("dry run", () => {
  it("turns rules into shadow rules and enforces nothing", () => {
    const [filter] = httpAuthorization([policy("d", { action: "DENY", rules: [{}] }, dryRun)], mesh()).value.builtIn;
    expect(filter?.typedConfig).toMatchObject({
      shadowRules: { action: "DENY" },
      shadowRulesStatPrefix: "istio_dry_run_deny_",
    });
    expect(filter?.typedConfig).not.toHaveProperty("rules");
  });

  it.each(["false", "yes", ""])("is not asked for by %j", (value) => {
    const policies = [policy("d", { rules: [{}] }, { "istio.io/dry-run": value })];
    expect(httpAuthorization(policies, mesh()).value.builtIn[0]?.typedConfig).toHaveProperty("rules");
  });
});

describe("an external authorizer", () => {
  it("is asked over gRPC behind a filter that marks the requests, on both protocols", () => {
    const names = (filters: readonly { readonly name?: string }[]) => filters.map((filter) => filter.name);
    const policies = [custom("c", "opa")];
    expect(names(httpAuthorization(policies, mesh(grpc)).value.custom)).toEqual([
      "envoy.filters.http.rbac",
      "envoy.filters.http.ext_authz",
    ]);
    expect(names(tcpAuthorization(policies, mesh(grpc)).value.custom)).toEqual([
      "envoy.filters.network.rbac",
      "envoy.filters.network.ext_authz",
    ]);
  });

  it("over HTTP leaves TCP chains alone", () => {
    expect(tcpAuthorization([custom("c", "web")], mesh(http)).value.custom).toEqual([]);
  });

  it.each<[string, readonly ExtensionProvider[], string]>([
    ["is not defined", [], "no extension provider named opa"],
    ["is defined twice", [grpc, grpc], "more than once"],
    ["names an unknown service", [{ name: "opa", envoyExtAuthzGrpc: { service: "x.y", port: 1 } }], "no service x.y"],
    [
      "has an impossible status",
      [{ name: "opa", envoyExtAuthzGrpc: { ...grpc.envoyExtAuthzGrpc, statusOnError: "299" } }],
      "statusOnError",
    ],
    [
      "lists a bare wildcard",
      [{ name: "opa", envoyExtAuthzHttp: { ...http.envoyExtAuthzHttp, headersToUpstreamOnAllow: ["*"] } }],
      "bare *",
    ],
  ])("that %s makes a refusal, and a diagnostic", (_case, providers, reason) => {
    const stage = httpAuthorization([custom("c", "opa")], mesh(...providers));
    expect(stage.value.custom.map((filter) => filter.name)).toEqual(["envoy.filters.http.rbac"]);
    expect(JSON.stringify(stage.value.custom)).toContain("policy[c]-rule[0]-deny-due-to-bad-CUSTOM-action");
    expect(stage.diagnostics).toMatchObject([{ code: "custom-provider-unusable", path: ["spec", "provider", "name"] }]);
    expect(stage.diagnostics[0]?.message).toContain(reason);
  });

  it("must be one for a workload: with two, both are refused", () => {
    const stage = httpAuthorization([custom("c", "opa"), custom("e", "web")], mesh(grpc, http));
    expect(stage.value.custom).toHaveLength(2);
    expect(stage.diagnostics).toHaveLength(2);
    expect(stage.diagnostics[0]?.hint).toContain("PILOT_ENABLE_MULTIPLE_CUSTOM_AUTHZ_PROVIDERS");
  });

  it("may be several with the switch: each is asked about its own policies, by name, and one that is missing closes its own", () => {
    const policies = [custom("c", "web"), custom("e", "opa"), custom("f", "none")];
    const stage = httpAuthorization(policies, switched(grpc, http));
    const marks = stage.value.custom.flatMap((filter) => JSON.stringify(filter).match(/istio-ext-authz-(\w+)"}/) ?? []);
    expect(marks.filter((mark) => !mark.includes("-"))).toEqual(["opa", "web"]);
    expect(stage.value.custom).toHaveLength(5);
    expect(stage.diagnostics.map(({ path, message }) => [path.join("."), message])).toEqual([
      ["spec.provider.name", expect.stringContaining("no extension provider named none")],
    ]);
  });
});

describe("a rule that Envoy would refuse, with the whole listener", () => {
  const long = { to: [{ operation: { paths: ["/{*}".repeat(500)] } }] };
  const open = { to: [{ operation: { paths: ["/public"] } }] };
  const filtersOf = (action: "ALLOW" | "DENY" | "AUDIT") =>
    httpAuthorization([policy("p", { action, rules: [open, long] })], mesh());
  const rule = (index: number) => `ns[shop]-policy[p]-rule[${index}]`;

  it("matches every request, where it denies, and none where it allows, and says so", () => {
    const policiesOf = (stage: ReturnType<typeof filtersOf>) => {
      const [filter] = stage.value.builtIn;
      return Object(filter?.typedConfig).rules.policies;
    };
    const any = { permissions: [{ any: true }], principals: [{ any: true }] };
    const none = { permissions: [{ notRule: { any: true } }], principals: [{ notId: { any: true } }] };
    const denies = filtersOf("DENY");
    expect(policiesOf(denies)).toMatchObject({ [rule(0)]: expect.anything(), [rule(1)]: any });
    expect(policiesOf(filtersOf("ALLOW"))).toMatchObject({ [rule(0)]: expect.anything(), [rule(1)]: none });
    expect(Object.keys(policiesOf(filtersOf("AUDIT")))).toEqual([rule(0)]);
    expect(denies.diagnostics).toMatchObject([{ code: "security-closed", path: ["spec", "rules", 1] }]);
    expect(denies.diagnostics[0]?.message).toContain("it matches every request");
  });

  it("is left out where it audits, and not said to fail closed", () => {
    const [found, ...others] = filtersOf("AUDIT").diagnostics;
    expect(others).toEqual([]);
    expect(found).toMatchObject({ code: "no-effect", severity: "warning", path: ["spec", "rules", 1] });
    expect(found?.message).toMatch(/\), so it is left out: no request is marked for the access log by it$/);
  });

  it("is named by the field of the object that the policy was made from", () => {
    const made = {
      ...policy("p", { action: "DENY", rules: [long] }),
      madeFrom: { "spec.rules.0": ["spec", "roles", 3] },
    };
    expect(httpAuthorization([made], mesh()).diagnostics).toMatchObject([{ path: ["spec", "roles", 3] }]);
    expect(httpAuthorization([{ ...made, madeFrom: {} }], mesh()).diagnostics).toMatchObject([{ path: [] }]);
  });

  it("is held against Envoy's rules once for a filter", () => {
    let read = 0;
    const counted: Rule = {
      get to() {
        read += 1;
        return long.to;
      },
    };
    httpAuthorization([policy("p", { action: "DENY", rules: [counted] })], mesh());
    expect(read).toBe(1);
  });

  it("asks the authorizer about everything", () => {
    const spec = { action: "CUSTOM", provider: { name: "opa" }, rules: [long] } as const;
    const [marker] = httpAuthorization([policy("p", spec)], mesh(grpc)).value.custom;
    expect(JSON.stringify(marker)).toContain('{"permissions":[{"any":true}],"principals":[{"any":true}]}');
  });
});
