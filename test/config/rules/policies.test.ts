import { describe, expect, it } from "vitest";
import { authorizationPolicyRules } from "../../../lib/config/rules/security/authorization-policy.ts";
import { findingsOf } from "./findings-of.ts";

const from = (source: string) => `{rules: [{from: [{source: {${source}}}]}]}`;
const to = (operation: string) => `{rules: [{to: [{operation: {${operation}}}]}]}`;
const when = (condition: string) => `{rules: [{when: [{${condition}}]}]}`;

describe("a label that no workload can have", () => {
  it.each([
    ["AuthorizationPolicy", "{selector: {matchLabels: {app: 'web '}}}", "selector.matchLabels.app", '"web "'],
    ["PeerAuthentication", "{selector: {matchLabels: {app: '-'}}}", "selector.matchLabels.app", '"-"'],
    [
      "Sidecar",
      "{workloadSelector: {labels: {app: a b}}, egress: [{hosts: ['*/*']}]}",
      "workloadSelector.labels.app",
      '"a b"',
    ],
  ])("is a warning in the selector of %s, which Istio takes", (kind, spec, path, value) => {
    const found = findingsOf(kind, spec);
    expect(found).toEqual([
      `warning spec.${path}: ${value} is not a label value: no workload has it, and this applies to none`,
    ]);
  });

  it("may be the key, and none of those that workloads have", () => {
    const found = findingsOf("AuthorizationPolicy", "{selector: {matchLabels: {'a b': c}}}");
    expect(found).toEqual(['warning spec.selector.matchLabels.a b: "a b" is not a label key: no workload has it']);
    expect(
      findingsOf("AuthorizationPolicy", "{selector: {matchLabels: {app.kubernetes.io/name: web, b: ''}}}"),
    ).toEqual([]);
  });
});

describe("AuthorizationPolicy", () => {
  it.each([
    ["{selector: {matchLabels: {a: b}}, targetRef: {kind: Service, name: a}}", "error spec: only one of"],
    ["{targetRef: {kind: Foo, name: a}}", "error spec.targetRef.kind: "],
    ["{targetRefs: [{kind: Service, name: a, namespace: x}]}", "error spec.targetRefs.0.namespace: "],
    ["{action: CUSTOM, rules: [{}]}", "error spec.provider.name: is required for CUSTOM"],
    ["{action: CUSTOM, provider: {name: x}}", "error spec.rules: is required for CUSTOM"],
    [
      "{action: CUSTOM, provider: {name: x}, rules: [{from: [{source: {principals: [a]}}]}]}",
      "error spec.rules.0.from.0.source.principals: ",
    ],
    [
      "{action: CUSTOM, provider: {name: x}, rules: [{when: [{key: source.namespace, values: [a]}]}]}",
      "error spec.rules.0.when.0.key: ",
    ],
    ["{provider: {name: x}}", "error spec.provider: has no meaning with action ALLOW"],
    ["{action: DENY}", "error spec.rules: is required for DENY"],
    ["{rules: [{from: []}]}", "error spec.rules.0.from: must not be an empty list"],
    [from(""), "error spec.rules.0.from.0.source: is empty"],
    [from("principals: ['']"), "error spec.rules.0.from.0.source.principals.0: must not be empty"],
    [from("ipBlocks: [x]"), "error spec.rules.0.from.0.source.ipBlocks.0: "],
    [
      from("serviceAccounts: [a], principals: [b]"),
      "error spec.rules.0.from.0.source: serviceAccounts and principals exclude",
    ],
    [from("serviceAccounts: ['a*']"), "error spec.rules.0.from.0.source.serviceAccounts.0: wildcards"],
    [from("serviceAccounts: [a/b/c]"), "error spec.rules.0.from.0.source.serviceAccounts.0: "],
    [from("trustDomains: ['a*b']"), "error spec.rules.0.from.0.source.trustDomains.0: "],
    [to(""), "error spec.rules.0.to.0.operation: is empty"],
    [to("ports: ['70000']"), "error spec.rules.0.to.0.operation.ports.0: "],
    [to("paths: ['/a/{**}/{*}']"), "error spec.rules.0.to.0.operation.paths.0: "],
    [to("paths: ['/a/x{*}']"), "error spec.rules.0.to.0.operation.paths.0: "],
    [when("key: ''"), "error spec.rules.0.when.0.key: is required"],
    [when("key: source.ip"), "error spec.rules.0.when.0: needs values or notValues"],
    [when("key: source.ip, values: [x]"), "error spec.rules.0.when.0.values.0: "],
    [when("key: destination.port, values: [x]"), "error spec.rules.0.when.0.values.0: "],
    [when("key: nothing, values: [x]"), "error spec.rules.0.when.0.key: "],
    [when("key: 'request.headers[]', values: [x]"), "error spec.rules.0.when.0.key: "],
    [
      "{action: DENY, rules: [{to: [{operation: {hosts: [a]}}, {operation: {hosts: [b], ports: ['80']}}]}]}",
      "warning spec.rules.0.to: HTTP attributes do not count on TCP ports, so there the rule denies every connection",
    ],
    [
      "{action: DENY, rules: [{from: [{source: {requestPrincipals: [a]}}], to: [{operation: {methods: [GET]}}]}]}",
      "warning spec.rules.0.to: HTTP attributes do not count on TCP ports",
    ],
  ])("%s gives %s", (spec, want) => {
    expect(findingsOf("AuthorizationPolicy", spec)).toContainEqual(expect.stringContaining(want));
  });

  it.each([
    ["{}"],
    ["{rules: [{}]}"],
    ["{action: DENY, rules: []}"],
    [to("paths: ['/a/{*}/b/{**}', '/x*', '*/y', '*']")],
    [from("serviceAccounts: [ns/a, b]")],
    [when("key: 'request.auth.claims[a][b]', values: ['*']")],
    [when("key: 'experimental.envoy.filters.network.mysql_proxy[db.table]', values: ['[update]']")],
  ])("%s is right", (spec) => {
    expect(findingsOf("AuthorizationPolicy", spec)).toEqual([]);
  });
});

describe("an empty part of a rule", () => {
  const hintOf = (action: "ALLOW" | "DENY") =>
    [...authorizationPolicyRules({ action, rules: [{ from: [{ source: {} }], to: [{ operation: {} }] }] })]
      .filter(({ code }) => code === "missing-field")
      .map(({ hint }) => hint);

  it("says what the rule does without it, and what an API server may have dropped", () => {
    const dropped = "the API server drops fields that it does not know (`kubectl apply --validate=strict` names them)";
    expect(hintOf("DENY")).toEqual([
      `write for example namespaces: ["shop"]; without source the rule denies every source; ${dropped}`,
      `write for example paths: ["/admin"]; without operation the rule denies every operation; ${dropped}`,
    ]);
    const port = [...authorizationPolicyRules({ rules: [{ to: [{ operation: { ports: ["99999"] } }] }] })];
    expect(port.map(({ message, hint }) => `${message}; ${hint}`)).toEqual([
      '"99999" is not a port; write a number from 1 to 65535',
    ]);
    expect(hintOf("ALLOW")[1]).toContain("without operation the rule allows every operation");
  });
});

describe("PeerAuthentication and RequestAuthentication", () => {
  const rule = (rest: string) => `{jwtRules: [{${rest}}]}`;
  it.each([
    ["PeerAuthentication", "{portLevelMtls: {80: {mode: STRICT}}}", "error spec.portLevelMtls: needs a selector"],
    [
      "PeerAuthentication",
      "{selector: {matchLabels: {a: b}}, portLevelMtls: {}}",
      "error spec.portLevelMtls: must not be empty",
    ],
    [
      "PeerAuthentication",
      "{selector: {matchLabels: {a: b}}, portLevelMtls: {70000: {}}}",
      "error spec.portLevelMtls.70000: ",
    ],
    ["RequestAuthentication", rule("audiences: [a]"), "error spec.jwtRules.0.issuer: "],
    ["RequestAuthentication", rule("issuer: a, jwksUri: 'ftp://a'"), "error spec.jwtRules.0.jwksUri: "],
    ["RequestAuthentication", rule("issuer: a, jwks: x"), "error spec.jwtRules.0.jwks: is no key set"],
    [
      "RequestAuthentication",
      rule(`issuer: a, jwks: '{"keys": [{"kty": "RSA", "d": "x"}]}'`),
      "error spec.jwtRules.0.jwks: holds a JSON Web Key that is not public",
    ],
    [
      "RequestAuthentication",
      rule(`issuer: a, jwks: '{"keys": [{"kty": "oct", "k": "x"}]}'`),
      "error spec.jwtRules.0.jwks: holds a symmetric key",
    ],
    ["RequestAuthentication", rule("issuer: a, audiences: ['']"), "error spec.jwtRules.0.audiences.0: "],
    ["RequestAuthentication", rule("issuer: a, fromHeaders: [{}]"), "error spec.jwtRules.0.fromHeaders.0.name: "],
    [
      "RequestAuthentication",
      rule("issuer: a, outputClaimToHeaders: [{header: 'a b', claim: c}]"),
      "error spec.jwtRules.0.outputClaimToHeaders.0.header: ",
    ],
  ])("%s %s gives %s", (kind, spec, want) => {
    expect(findingsOf(kind, spec)).toContainEqual(expect.stringContaining(want));
  });
});

describe("Telemetry, WasmPlugin and TrafficExtension", () => {
  it.each([
    ["Telemetry", "{tracing: [{}, {}]}", "warning spec.tracing: "],
    ["Telemetry", "{tracing: [{providers: [{name: ''}]}]}", "error spec.tracing.0.providers.0.name: "],
    ["Telemetry", "{tracing: [{randomSamplingPercentage: 101}]}", "error spec.tracing.0.randomSamplingPercentage: "],
    ["Telemetry", "{tracing: [{customTags: {a: {}}}]}", "error spec.tracing.0.customTags.a: needs exactly one"],
    [
      "Telemetry",
      "{metrics: [{overrides: [{tagOverrides: {a: {operation: REMOVE, value: x}}}]}]}",
      "error spec.metrics.0.overrides.0.tagOverrides.a.value: ",
    ],
    [
      "Telemetry",
      "{metrics: [{overrides: [{tagOverrides: {a: {operation: UPSERT}}}]}]}",
      "error spec.metrics.0.overrides.0.tagOverrides.a.value: ",
    ],
    [
      "Telemetry",
      "{accessLogging: [{filter: {expression: 'response.code >= (400'}}]}",
      "error spec.accessLogging.0.filter.expression: ",
    ],
    [
      "Telemetry",
      `{accessLogging: [{filter: {expression: "has(request.headers['x'])"}}]}`,
      "error spec.accessLogging.0.filter.expression: ",
    ],
    ["Telemetry", "{accessLogging: [{filter: {}}]}", "error spec.accessLogging.0.filter.expression: "],
    [
      "Telemetry",
      "{accessLogging: [{filter: {expression: request.path.lowerAscii() == 'x'}}]}",
      "warning spec.accessLogging.0.filter.expression: Envoy has no function lowerAscii",
    ],
    ["WasmPlugin", "{}", "error spec.url: is required"],
    ["WasmPlugin", "{url: 'ftp://x'}", "error spec.url: "],
    ["WasmPlugin", "{url: x, sha256: abc}", "error spec.sha256: "],
    ["WasmPlugin", "{url: x, vmConfig: {env: [{name: a}, {name: a}]}}", "error spec.vmConfig.env.1.name: "],
    [
      "WasmPlugin",
      "{url: x, vmConfig: {env: [{name: a, valueFrom: HOST, value: b}]}}",
      "error spec.vmConfig.env.0.value: ",
    ],
    ["WasmPlugin", "{url: x, match: [{ports: [{number: 0}]}]}", "error spec.match.0.ports.0.number: "],
    ["TrafficExtension", "{}", "error spec: needs exactly one of wasm and lua"],
    ["TrafficExtension", "{lua: {inlineCode: ''}}", "error spec.lua.inlineCode: "],
  ])("%s %s gives %s", (kind, spec, want) => {
    expect(findingsOf(kind, spec)).toContainEqual(expect.stringContaining(want));
  });
});

describe("the legacy kinds", () => {
  it.each([
    ["RouteRule", "{destination: {name: a, labels: {x: y}}}", "error spec.destination.labels: "],
    ["RouteRule", "{destination: {name: a}, match: {udp: {}}}", "error spec.match.udp: is not supported"],
    ["RouteRule", "{destination: {name: a}, l4Fault: {}}", "error spec.l4Fault: is not implemented"],
    ["RouteRule", "{destination: {name: a}, rewrite: {}}", "error spec.rewrite: needs uri or authority"],
    [
      "RouteRule",
      "{destination: {name: a}, httpFault: {delay: {percent: 5}}}",
      "error spec.httpFault.delay.fixedDelay: ",
    ],
    [
      "RouteRule",
      "{destination: {name: a}, httpFault: {abort: {grpcStatus: X}}}",
      "error spec.httpFault.abort.grpcStatus: ",
    ],
    ["RouteRule", "{destination: {service: a.b, namespace: c}}", "error spec.destination.namespace: "],
    ["IngressRule", "{destination: {name: a}}", "error spec.destinationPort: needs exactly one"],
    [
      "EgressRule",
      "{destination: {name: a}, ports: [{port: 80, protocol: http}]}",
      "error spec.destination.name: is not allowed",
    ],
    [
      "EgressRule",
      "{destination: {service: a.b}, ports: [{port: 80, protocol: http}], useEgressProxy: true}",
      "error spec.useEgressProxy: ",
    ],
    ["DestinationPolicy", "{destination: {name: a}, loadBalancing: {}}", "error spec.loadBalancing.name: "],
    [
      "DestinationPolicy",
      "{destination: {name: a}, circuitBreaker: {simpleCb: {maxConnections: -1, sleepWindow: 1s, httpDetectionInterval: 1s}}}",
      "error spec.circuitBreaker.simpleCb.maxConnections: ",
    ],
    ["HTTPAPISpec", "{patterns: [{httpMethod: GET, uriTemplate: /a}]}", "error spec.attributes: is required"],
    ["QuotaSpec", "{rules: [{quotas: [{quota: a, charge: 0}]}]}", "error spec.rules.0.quotas.0.charge: "],
    ["QuotaSpecBinding", "{services: [{name: a}]}", "error spec.quotaSpecs: needs at least one entry"],
    ["MeshPolicy", "{targets: [{name: a}]}", "error spec.targets: a MeshPolicy has no targets"],
    [
      "Policy",
      "{origins: [{jwt: {issuer: a, triggerRules: [{excludePaths: [{exact: /a}]}]}}]}",
      "error spec.origins.0.jwt.triggerRules.0.excludePaths: ",
    ],
    ["Policy", "{origins: [{jwt: {issuer: a, jwks: '{}'}}]}", "error spec.origins.0.jwt.jwks: is no key set"],
    ["ServiceRole", "{rules: [{}]}", "error spec.rules.0.services: "],
    ["ServiceRoleBinding", "{subjects: [{user: a}], roleRef: {kind: Role, name: x}}", "error spec.roleRef.kind: "],
    ["RbacConfig", "{mode: ON_WITH_INCLUSION}", "error spec.inclusion: is required"],
    ["RbacConfig", "{mode: ON}", 'must be named "default"'],
  ])("%s %s gives %s", (kind, spec, want) => {
    expect(findingsOf(kind, spec)).toContainEqual(expect.stringContaining(want));
  });
});

describe("a DENY rule with HTTP attributes", () => {
  const range = "from: [{source: {notIpBlocks: [192.0.2.0/24]}}]";
  it.each([
    { rule: "{to: [{operation: {paths: [/admin*]}}]}", want: "to" },
    { rule: '{from: [{source: {notRequestPrincipals: ["*"]}}]}', want: "from" },
    { rule: `{${range}, to: [{operation: {hosts: [a.example]}}]}`, want: "to" },
    {
      rule: "{from: [{source: {principals: [cluster.local/ns/a/sa/b]}}], to: [{operation: {methods: [GET]}}]}",
      want: "to",
    },
    { rule: '{from: [{source: {requestPrincipals: ["*"]}}], to: [{operation: {paths: [/x]}}]}', want: "to" },
    { rule: '{to: [{operation: {paths: [/x], ports: ["80"]}}]}', want: undefined },
    { rule: '{when: [{key: "request.headers[x]", values: ["1"]}]}', want: "when" },
    {
      rule: '{when: [{key: "request.auth.claims[x]", values: ["1"]}, {key: source.ip, values: [10.0.0.0/8]}]}',
      want: undefined,
    },
    { rule: `{${range}}`, want: undefined },
    { rule: "{}", want: undefined },
  ])("$rule is warned of at $want, and ALLOW never", ({ rule, want }) => {
    const said = (action: string) =>
      findingsOf("AuthorizationPolicy", `{action: ${action}, rules: [${rule}]}`).filter((text) =>
        text.includes("TCP ports"),
      );
    expect(said("DENY")).toEqual(
      want === undefined ? [] : [expect.stringMatching(new RegExp(`^warning spec\\.rules\\.0\\.${want}: `))],
    );
    expect(said("ALLOW")).toEqual([]);
  });
});
