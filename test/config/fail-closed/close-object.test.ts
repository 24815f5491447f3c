import { describe, expect, it } from "vitest";
import { closedDiagnostic } from "../../../lib/config/fail-closed/closed-object.ts";
import { readFiles } from "../../../lib/config/folder/directory.ts";

/** What one object in a folder comes to: the closed objects, each as what closes it. */
function closed(text: string) {
  const { closed, configs } = readFiles([{ file: "a.yaml", text }]);
  expect(configs).toEqual([]);
  return closed.map(({ closing, configs: made }) => ({
    closing,
    made: made.map(({ meta, spec }) => ({ [`${meta.kind} ${meta.namespace}`]: spec })),
  }));
}

const object = (kind: string, spec: string, namespace = "shop", group = "security.istio.io/v1") =>
  `apiVersion: ${group}\nkind: ${kind}\nmetadata: { name: a${namespace === "" ? "" : `, namespace: ${namespace}`} }\nspec: ${spec}\n`;

const policy = (spec: string) => closed(object("AuthorizationPolicy", spec));

const denied = (target: object, namespace = "shop") => [
  {
    closing: "denied",
    made: [{ [`AuthorizationPolicy ${namespace}`]: { ...target, action: "DENY", rules: [{}] } }],
  },
];
const web = { selector: { matchLabels: { app: "web" } } };
const selector = "selector: { matchLabels: { app: web } }";

describe("a refused AuthorizationPolicy", () => {
  it.each([
    [
      "a misspelt field of an operation",
      `{ ${selector}, action: DENY, rules: [{ to: [{ operation: { path: [/a] } }] }] }`,
    ],
    ["a field that an API server has pruned", `{ ${selector}, action: DENY, rules: [{ to: [{ operation: {} }] }] }`],
    ["a port that is none", `{ ${selector}, action: DENY, rules: [{ to: [{ operation: { ports: [http] } }] }] }`],
    ["a block that is none", `{ ${selector}, action: DENY, rules: [{ from: [{ source: { ipBlocks: [10.0.0] } }] }] }`],
    [
      "a good rule beside a bad one",
      `{ ${selector}, action: DENY, rules: [{ to: [{ operation: { paths: [/a] } }] }, { form: [] }] }`,
    ],
    ["an unknown action", `{ ${selector}, action: DENNY, rules: [{}] }`],
    ["rules that are no list", `{ ${selector}, action: DENY, rules: { to: [] } }`],
    [
      "an unknown field beside its rules",
      `{ ${selector}, action: ALLOW, mode: strict, rules: [{ to: [{ operation: { paths: [/a] } }] }] }`,
    ],
    [
      "a template that is too long",
      `{ ${selector}, action: DENY, rules: [{ to: [{ operation: { paths: ["${"/{*}".repeat(500)}"] } }] }] }`,
    ],
    [
      "a header that is no name",
      `{ ${selector}, action: DENY, rules: [{ when: [{ key: "request.headers[a b]", values: [x] }] }] }`,
    ],
  ])("denies every request to what it selects, for %s", (_what, spec) => {
    expect(policy(spec)).toEqual(denied(web));
  });

  it.each([
    ["a selector with a wildcard", "{ selector: { matchLabels: { app: w* } }, action: DENY, rules: [{}] }"],
    ["a selector of another form", "{ selector: { labels: { app: web } }, action: DENY, rules: [{}] }"],
    ["a misspelt selector", "{ selectors: { matchLabels: { app: web } }, action: DENY, rules: [{}] }"],
    [
      "two ways to select",
      `{ ${selector}, targetRef: { kind: Gateway, group: gateway.networking.k8s.io, name: g }, action: DENY, rules: [{}] }`,
    ],
    ["a spec that is no object", "none"],
  ])("denies every request to its namespace, for %s", (_what, spec) => {
    expect(policy(spec)).toEqual(denied({}));
  });

  it("denies every request to the Gateway that it attaches to", () => {
    const targetRefs = [{ kind: "Gateway", name: "g", group: "gateway.networking.k8s.io" }];
    expect(policy(`{ targetRefs: ${JSON.stringify(targetRefs)}, action: DENY, rules: [{ to: [] }] }`)).toEqual(
      denied({ targetRefs }),
    );
  });

  it("is known by its kind and group though one of them, or its version, is misspelt", () => {
    const spec = `{ ${selector}, action: DENY, rules: [{}] }`;
    expect(closed(object("AuthorisationPolicy", spec))).toEqual(denied(web));
    expect(closed(object("AuthorizationPolicy", spec, "shop", "networking.istio.io/v1"))).toEqual(denied(web));
    expect(closed(object("AuthorizationPolicy", spec, "shop", "security.istio.io/v9"))).toEqual(denied(web));
  });

  it("keeps the valid rules of an ALLOW, and allows nothing where none is left", () => {
    const open = { to: [{ operation: { paths: ["/public"] } }] };
    const bad = "{ to: [{ operation: { pathes: [/private] } }] }";
    const allows = (rules: readonly object[]) => [
      { closing: "only-valid-rules", made: [{ "AuthorizationPolicy shop": { ...web, action: "ALLOW", rules } }] },
    ];
    expect(policy(`{ ${selector}, action: ALLOW, rules: [${JSON.stringify(open)}, ${bad}] }`)).toEqual(allows([open]));
    expect(policy(`{ ${selector}, action: ALLOW, rules: [${bad}] }`)).toEqual(allows([]));
  });

  it("asks the authorizer of a CUSTOM about everything", () => {
    const spec = `{ ${selector}, action: CUSTOM, provider: { name: p }, rules: [{ to: [{ operation: { ports: [x] } }] }] }`;
    const made = { ...web, action: "CUSTOM", provider: { name: "p" }, rules: [{}] };
    expect(policy(spec)).toEqual([{ closing: "authorizer-asked", made: [{ "AuthorizationPolicy shop": made }] }]);
    expect(policy(`{ ${selector}, action: CUSTOM, rules: [{}] }`)).toEqual(denied(web));
  });

  it("closes nothing where it would protect nothing: as an AUDIT, and when it is only tried out", () => {
    expect(policy(`{ ${selector}, action: AUDIT, rules: [{ to: [] }] }`)).toEqual([]);
    const tried = object("AuthorizationPolicy", "{ action: DENY }").replace(
      "name: a",
      'name: a, annotations: { istio.io/dry-run: "true" }',
    );
    expect(closed(tried)).toEqual([]);
  });
});

describe("a refused PeerAuthentication", () => {
  const strict = (target: object) => [
    { closing: "mutual-tls", made: [{ "PeerAuthentication shop": { ...target, mtls: { mode: "STRICT" } } }] },
  ];
  it.each([
    ["a mode that is none", `{ ${selector}, mtls: { mode: STRICKT } }`, web],
    [
      "a port that is none",
      `{ ${selector}, mtls: { mode: PERMISSIVE }, portLevelMtls: { http: { mode: DISABLE } } }`,
      web,
    ],
    ["a selector that cannot be read", "{ selector: { labels: { app: web } }, mtls: { mode: STRICT } }", {}],
  ])("asks for mutual TLS, for %s", (_what, spec, target) => {
    expect(closed(object("PeerAuthentication", spec))).toEqual(strict(target));
  });
});

describe("a refused RequestAuthentication", () => {
  const tokens = (spec: string) => closed(object("RequestAuthentication", spec));
  const refused = (jwtRules: readonly object[]) => [
    { closing: "tokens-refused", made: [{ "RequestAuthentication shop": { ...web, jwtRules } }] },
  ];

  it("refuses every token where keys are none, beside its valid rules", () => {
    const good = { issuer: "a", jwksUri: "https://keys.test/jwks" };
    const spec = `{ ${selector}, jwtRules: [${JSON.stringify(good)}, { issuer: b, jwks: broken, fromHeaders: [{ name: x-token }] }] }`;
    expect(tokens(spec)).toEqual(refused([good, { fromHeaders: [{ name: "x-token" }] }]));
    expect(tokens(`{ ${selector}, jwtRules: [{ issuer: b, jwks: '{"keys":[{"kty":"RSA"}]}' }] }`)).toEqual(
      refused([{}]),
    );
  });

  it("denies requests without a token, too, where a field may ask for one", () => {
    const [found] = tokens(`{ ${selector}, jwtRules: [{ issuer: a, jwksUri: "https://a.test", presence: REQUIRED }] }`);
    expect(found?.closing).toBe("tokens-required");
    expect(found?.made).toEqual([
      { "RequestAuthentication shop": { ...web, jwtRules: [{}] } },
      {
        "AuthorizationPolicy shop": {
          ...web,
          action: "DENY",
          rules: [{ from: [{ source: { notRequestPrincipals: ["*"] } }] }],
        },
      },
    ]);
  });
});

describe("another refused object", () => {
  const filter = (name: string) =>
    `{ workloadSelector: { labels: { app: web } }, configPatches: [{ applyTo: HTTP_FILTR, patch: { operation: INSERT_FIRST, value: { name: envoy.filters.http.${name} } } }] }`;
  it("denies every request where a patch was to insert a filter that decides who may pass", () => {
    const found = closed(object("EnvoyFilter", filter("ext_authz"), "shop", "networking.istio.io/v1alpha3"));
    expect(found).toEqual(denied(web));
  });

  const patches = (...texts: readonly string[]) =>
    closed(
      object(
        "EnvoyFilter",
        `{ workloadSelector: { labels: { app: web } }, configPatches: [${texts.join(", ")}] }`,
        "shop",
        "networking.istio.io/v1alpha3",
      ),
    );
  const insertion = (name: string, config: string) =>
    `{ applyTo: HTTP_FILTER, patch: { operation: INSERT_FIRST, value: { name: ${name}, typed_config: ${config} } } }`;
  const authorizer = (config: string) =>
    insertion(
      "authorizer",
      `{ "@type": type.googleapis.com/envoy.extensions.filters.http.ext_authz.v3.ExtAuthz, ${config} }`,
    );
  const lua = (config: string) =>
    insertion("script", `{ "@type": type.googleapis.com/envoy.extensions.filters.http.lua.v3.Lua, ${config} }`);

  it.each([
    ["is no such message", authorizer("failure_mode_allow: [false]")],
    ["has a field that is not known", authorizer("failure_mode_alow: false")],
    ["names an enum's value that is not known", authorizer("transport_api_version: V33")],
    ["breaks a constraint of Envoy's API", authorizer("grpc_service: { envoy_grpc: { cluster_name: '' } }")],
  ])("denies every request where the value of such a filter %s", (_what, patch) => {
    expect(patches(patch)).toEqual(denied(web));
  });

  it("leaves the valid patches that protect, beside an invalid one that does not", () => {
    const valid = authorizer("grpc_service: { envoy_grpc: { cluster_name: authorizer } }");
    expect(patches(valid, lua("default_source_code: 1"))).toEqual([
      {
        closing: "only-valid-patches",
        made: [{ "EnvoyFilter shop": expect.objectContaining({ configPatches: [expect.anything()] }) }],
      },
    ]);
    expect(patches(lua("default_source_code: 1"), lua("stat_prefix: a"))).toEqual([]);
  });

  it("closes nothing where it was to protect nothing", () => {
    expect(closed(object("EnvoyFilter", filter("lua"), "shop", "networking.istio.io/v1alpha3"))).toEqual([]);
    expect(closed(object("VirtualService", "{ host: [a] }", "shop", "networking.istio.io/v1"))).toEqual([]);
  });
});

describe("a document that cannot be read", () => {
  it("closes the namespace of the policy that its text shows", () => {
    const text = "kind: AuthorizationPolicy\nmetadata:\n  name: a\n  namespace: shop\nspec: { action: DENY, rules: [\n";
    expect(closed(text)).toEqual(denied({}));
    expect(closed(text.replace("  namespace: shop\n", ""))).toEqual(denied({}, "default"));
  });

  it("closes the namespace of a policy without a name", () => {
    expect(closed(object("AuthorizationPolicy", "{}").replace("name: a, ", ""))).toEqual(denied({}));
  });

  it("closes nothing for a chart's template, nor for Kustomize's input", () => {
    expect(closed("kind: AuthorizationPolicy\nmetadata: { name: {{ .Values.name }} }\n")).toEqual([]);
    const patches =
      "apiVersion: kustomize.config.k8s.io/v1\nkind: Kustomization\npatches: [{ target: { kind: AuthorizationPolicy } }]\n";
    expect(closed(patches)).toEqual([]);
  });
});

describe("a refused DestinationRule", () => {
  const rule = (spec: string) => closed(object("DestinationRule", spec, "shop", "networking.istio.io/v1"));
  const nobody = { mode: "ISTIO_MUTUAL", subjectAltNames: ["spiffe://closed.invalid/nobody"] };
  const failing = (fields: object) => [
    {
      closing: "connections-refused",
      made: [{ "DestinationRule shop": { ...fields, trafficPolicy: { tls: nobody } } }],
    },
  ];

  it.each([
    ["a misspelt field of its TLS", "{ host: bank, trafficPolicy: { tls: { mod: SIMPLE } } }"],
    ["another mode", "{ host: bank, trafficPolicy: { tls: { mode: SIMPEL } } }"],
    ["a fault elsewhere", "{ host: bank, trafficPolicy: { tls: { mode: SIMPLE }, conectionPool: {} } }"],
    ["TLS of a subset", "{ host: bank, subsets: [{ name: a, trafficPolicy: { tls: { mode: MUTUAL } } }] }"],
    ["TLS in capitals", "{ host: bank, trafficPolicy: { TLS: { mode: SIMPLE } } }"],
    ["a host in capitals", "{ Host: bank, trafficPolicy: { tls: { mode: SIMPLE } } }"],
    ["settings as a text", '{ host: bank, trafficPolicy: \'{"tls": {"mode": "SIMPLE"}}\' }'],
    ["a list of namespaces that is none", "{ host: bank, exportTo: 5, trafficPolicy: { tls: { mode: SIMPLE } } }"],
  ])("lets no connection to its host through in plain text, for %s", (_what, spec) => {
    expect(rule(spec)).toEqual(failing({ host: "bank" }));
  });

  it("closes where it is exported to, and for the workloads that it selects", () => {
    const where = 'exportTo: ["."], workloadSelector: { matchLabels: { app: web } }';
    expect(rule(`{ host: bank, ${where}, trafficPolicy: { tls: { mode: NONE } } }`)).toEqual(
      failing({ host: "bank", exportTo: ["."], workloadSelector: { matchLabels: { app: "web" } } }),
    );
  });

  it.each([
    ["one that says nothing of TLS", "{ host: bank, trafficPolicy: { conectionPool: {} } }"],
    ["one that wants plain text", "{ host: bank, trafficPolicy: { tls: { mode: DISABLE }, conectionPool: {} } }"],
    ["one whose host cannot be read", "{ hosts: [bank], trafficPolicy: { tls: { mode: SIMPLE } } }"],
  ])("closes nothing: %s", (_what, spec) => {
    expect(rule(spec)).toEqual([]);
  });
});

describe("a refused BackendTLSPolicy", () => {
  it("lets no connection to its services through, and names them", () => {
    const targetRefs = [{ group: "", kind: "Service", name: "bank" }];
    const spec = JSON.stringify({
      targetRefs,
      validation: { hostname: "bank.example", wellKnownCACertificates: "Sys tem" },
    });
    const text = object("BackendTLSPolicy", spec, "shop", "gateway.networking.k8s.io/v1");
    const validation = {
      hostname: "closed.invalid",
      caCertificateRefs: [{ group: "", kind: "ConfigMap", name: "closed:" }],
    };
    expect(closed(text)).toEqual([
      { closing: "connections-refused", made: [{ "BackendTLSPolicy shop": { targetRefs, validation } }] },
    ]);
    const [first] = readFiles([{ file: "a.yaml", text }]).closed;
    expect(first && closedDiagnostic(first, "istio-system").message).toMatch("connections to Service shop/bank fail");
  });

  const valid = { hostname: "bank.example", wellKnownCACertificates: "System" };
  const bank = { group: "", kind: "Service", name: "bank" };
  it.each([
    ["a field of a target that is not known", { targetRefs: [{ ...bank, namespace: "shop" }], validation: valid }],
    ["a port that is none", { targetRefs: [{ ...bank, sectionName: "a b" }], validation: valid }],
    ["a target without a name", { targetRefs: [bank, { group: "", kind: "Service" }], validation: valid }],
    ["names of fields in snake_case", { target_refs: [bank], validation: { hostname: "-" } }],
    ["an older form", { targetRef: bank, tls: { hostname: "bank.example" } }],
  ])("closes the targets that can be read, beside %s", (_what, spec) => {
    const text = object("BackendTLSPolicy", JSON.stringify(spec), "shop", "gateway.networking.k8s.io/v1");
    const made = readFiles([{ file: "a.yaml", text }]).closed.flatMap(({ configs }) => configs.map((one) => one.spec));
    expect(made).toMatchObject([{ targetRefs: [bank], validation: { hostname: "closed.invalid" } }]);
  });
});
