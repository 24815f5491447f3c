import { describe, expect, it } from "vitest";
import { closedDiagnostic } from "../../../lib/config/fail-closed/closed-object.ts";
import { readFiles } from "../../../lib/config/folder/directory.ts";
import { closedProxiesAnnotation } from "../../../lib/config/made-annotations.ts";

/** What one object in a folder comes to: the closed objects, each as what closes it. */
function closed(text: string) {
  const { closed, configs } = readFiles([{ file: "a.yaml", text }]);
  expect(configs).toEqual([]);
  return closed.map(({ closing, configs: made }) => ({
    closing,
    made: made.map(({ meta, spec }) => ({ [`${meta.kind} ${meta.namespace}`]: spec })),
  }));
}

/** Of each closed object the type of proxies that is closed: as it is said, and as the stand-in has it. */
const closedProxiesOf = (text: string) =>
  readFiles([{ file: "a.yaml", text }]).closed.map(
    ({ proxies = "both", configs: [made] }) =>
      `${proxies} ${made?.meta.annotations[closedProxiesAnnotation] ?? "both"}`,
  );

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
    expect(closed(object("AuthPolicy", spec))).toEqual(denied(web));
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

  it.each([
    ["a field may ask for one", "jwtRules: [{ issuer: a, binding: MTLS }]"],
    ["a rule asks for one and is wrong otherwise", "jwtRules: [{ presence: REQUIRED, issuer: a, jwks: broken }]"],
    ["a rule asks for one in a way that is not known", "jwtRules: [{ issuer: a, presence: ALWAYS }]"],
    ["a rule asks for one and a selector is wrong", "jwt_rules: [{ issuer: a, presence: REQUIRED }], targetRefs: [{}]"],
  ])("denies requests without a token, too, where %s", (what, spec) => {
    const [found] = tokens(`{ ${what.includes("selector") ? "" : `${selector}, `}${spec} }`);
    if (what.includes("selector")) {
      expect(found?.closing).toBe("tokens-required");
      return;
    }
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

describe("a refused RequestAuthentication whose tokens are optional", () => {
  it.each(["presence: OPTIONAL", "presence: 'OPTIONAL'", "audiences: [presence]"])(
    "refuses tokens alone, with %s",
    (field) => {
      const [found] = closed(object("RequestAuthentication", `{ jwtRules: [{ issuer: a, jwks: broken, ${field} }] }`));
      expect(found?.closing).toBe("tokens-refused");
    },
  );
});

describe("a document that cannot be read", () => {
  const unreadable = (rule: string) => closed(object("RequestAuthentication", `{ jwtRules: [{ ${rule} }, }`));
  it("asks for tokens where its text does", () => {
    expect(unreadable("issuer: a, presence: REQUIRED").map(({ closing }) => closing)).toEqual(["tokens-required"]);
    expect(unreadable("issuer: a").map(({ closing }) => closing)).toEqual(["tokens-refused"]);
  });
});

describe("a refused Sidecar", () => {
  const sidecar = (spec: string) => closed(object("Sidecar", spec, "shop", "networking.istio.io/v1"));
  const limited = (more: object, ...others: readonly object[]) => [
    {
      closing: "calls-refused",
      made: [{ "Sidecar shop": { ...more, outboundTrafficPolicy: { mode: "REGISTRY_ONLY" } } }, ...others],
    },
  ];
  const labels = "workloadSelector: { labels: { app: web } }";
  const web = { workloadSelector: { labels: { app: "web" } } };
  const own = { hosts: ["./*"] };
  const none = { hosts: ["~/*"] };

  it("keeps the valid listeners where it limits calls, and refuses calls to anywhere else", () => {
    const policy = "outboundTrafficPolicy: { mode: REGISTRY_ONLY }";
    const spec = `{ ${labels}, egress: [{ port: { number: 80, protocol: HTTP, name: a }, hosts: [nowhere] }, { hosts: ["./*"] }], ${policy} }`;
    expect(sidecar(spec)).toEqual(limited({ ...web, egress: [own] }));
    expect(sidecar(`{ egress: [{ hosts: [nowhere] }], ${policy} }`)).toEqual(limited({ egress: [none] }));
    expect(sidecar('{ egress: [{ hosts: ["*/*", "~shop/a.b/c"] }] }')).toEqual(limited({ egress: [none] }));
  });

  it("imports nothing where a field beside the listeners may limit them, or what it selects cannot be read", () => {
    expect(sidecar(`{ ${labels}, egress: [{ hosts: ["./*"] }], denied: [] }`)).toEqual(
      limited({ egress: [none], ...web }),
    );
    expect(sidecar('{ workloadSelector: { app: web }, egress: [{ hosts: ["./*"] }] }')).toEqual(
      limited({ egress: [own] }),
    );
  });

  it("denies requests where a listener with TLS is lost, since its port would take plain text", () => {
    const listener = (tls: string) =>
      `{ port: { number: 443, protocol: HTTPS, name: a }, defaultEndpoint: "127.0.0.1:1", tls: ${tls} }`;
    const tls = "{ mode: SIMPLE, serverCertificate: /c, privateKey: /k }";
    const lost = {
      "AuthorizationPolicy shop": { selector: { matchLabels: { app: "web" } }, action: "DENY", rules: [{}] },
    };
    expect(sidecar(`{ ${labels}, ingress: [${listener("{ mode: SIMPLY }")}] }`)).toEqual(
      limited({ ...web, egress: [none] }, lost),
    );
    const [kept] = sidecar(`{ ${labels}, ingress: [${listener(tls)}], egress: [{ hosts: [nowhere] }] }`);
    expect(kept?.made).toHaveLength(1);
    expect(JSON.stringify(kept?.made)).toContain('"serverCertificate":"/c"');
  });

  it("closes nothing where it limits nothing", () => {
    expect(sidecar("{ ingress: [{ port: { number: 0 } }] }")).toEqual([]);
    expect(sidecar("{ egress: [{ hosts: [nowhere] }], outboundTrafficPolicy: { mode: ALLOW_ANY } }")).toEqual([]);
  });
});

describe("another refused object", () => {
  const filter = (name: string) =>
    `{ workloadSelector: { labels: { app: web } }, configPatches: [{ applyTo: HTTP_FILTR, patch: { operation: INSERT_FIRST, value: { name: envoy.filters.http.${name} } } }] }`;
  it("denies every request where a patch was to insert a filter that decides who may pass", () => {
    const found = closed(object("EnvoyFilter", filter("ext_authz"), "shop", "networking.istio.io/v1alpha3"));
    expect(found).toEqual(denied(web));
  });

  const filterOf = (...texts: readonly string[]) =>
    object(
      "EnvoyFilter",
      `{ workloadSelector: { labels: { app: web } }, configPatches: [${texts.join(", ")}] }`,
      "shop",
      "networking.istio.io/v1alpha3",
    );
  const patches = (...texts: readonly string[]) => closed(filterOf(...texts));
  const insertion = (name: string, config: string) =>
    `{ applyTo: HTTP_FILTER, patch: { operation: INSERT_FIRST, value: { name: ${name}, typed_config: ${config} } } }`;
  const authorizer = (config: string) =>
    insertion(
      "authorizer",
      `{ "@type": type.googleapis.com/envoy.extensions.filters.http.ext_authz.v3.ExtAuthz, ${config} }`,
    );
  const buffer = (config: string) =>
    insertion("buffer", `{ "@type": type.googleapis.com/envoy.extensions.filters.http.buffer.v3.Buffer, ${config} }`);

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
    expect(patches(valid, buffer("max_request_bytes: many"))).toEqual([
      {
        closing: "only-valid-patches",
        made: [{ "EnvoyFilter shop": expect.objectContaining({ configPatches: [expect.anything()] }) }],
      },
    ]);
    expect(patches(buffer("max_request_bytes: many"), buffer("max_request_bytes: 5"))).toEqual([]);
  });

  it.each([
    [
      "a rate limit",
      insertion(
        "limit",
        '{ "@type": type.googleapis.com/envoy.extensions.filters.http.local_ratelimit.v3.LocalRateLimit, stat_prefix: a, token_bucket: { max_tokens: 5, fill_interval: often } }',
      ),
    ],
    [
      "a certificate asked for",
      '{ applyTo: FILTER_CHAIN, patch: { operation: MERGE, value: { transport_socket: { name: tls, typed_config: { "@type": type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext, require_client_certificate: "yes" } } } } }',
    ],
    ["a limit of routes", "{ applyTo: HTTP_ROUTE, patch: { operation: MERGE, value: { route: { rate_limits: 5 } } } }"],
  ])("denies every request where an invalid patch is about %s", (_what, patch) => {
    expect(patches(patch)).toEqual(denied(web));
  });

  it.each([
    ["lua", "lua.v3.Lua", "default_source_code: 1"],
    ["ext_proc", "ext_proc.v3.ExternalProcessor", "failure_mode_allow: maybe"],
    ["csrf", "csrf.v3.CsrfPolicy", "filter_enabled: 5"],
    ["wasm", "wasm.v3.Wasm", "config: { fail_open: maybe }"],
  ])(
    "denies every request where the value of a filter that may decide, %s, is no such message",
    (_name, type, config) => {
      const value = `{ "@type": type.googleapis.com/envoy.extensions.filters.http.${type}, ${config} }`;
      expect(patches(insertion("own", value))).toEqual(denied(web));
    },
  );

  it("closes proxies of the type that all invalid patches name as their context, and else of both", () => {
    const inContext = (context: string, config = "failure_mode_allow: [false]") =>
      authorizer(config).replace("{ applyTo", `{ match: { context: ${context} }, applyTo`);
    const proxiesOf = (...texts: readonly string[]) => closedProxiesOf(filterOf(...texts));
    expect(proxiesOf(inContext("GATEWAY"))).toEqual(["router router"]);
    expect(proxiesOf(inContext("SIDECAR_INBOUND"), inContext("SIDECAR_OUTBOUND"))).toEqual(["sidecar sidecar"]);
    expect(proxiesOf(inContext("GATEWAY"), inContext("SIDECAR_INBOUND"))).toEqual(["both both"]);
    expect(proxiesOf(inContext("ANY"))).toEqual(["both both"]);
    expect(proxiesOf(inContext("GATEWY"))).toEqual(["both both"]);
    expect(proxiesOf(authorizer("failure_mode_allow: [false]"))).toEqual(["both both"]);
    // A valid patch is served as it is: its context says nothing of the one that is not.
    const valid = inContext("SIDECAR_INBOUND", "grpc_service: { envoy_grpc: { cluster_name: authorizer } }");
    expect(proxiesOf(valid, inContext("GATEWAY"))).toEqual(["router router"]);
    // What stands elsewhere may be a patch, too.
    const beside = filterOf(inContext("GATEWAY")).replace(
      "configPatches",
      `patches: [${inContext("ANY")}], configPatches`,
    );
    expect(closedProxiesOf(beside)).toEqual(["both both"]);
  });

  it("lets connections to clusters fail that an invalid patch was to give TLS", () => {
    const socket =
      '{ name: envoy.transport_sockets.tls, typed_config: { "@type": type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext, snii: 5, max_session_keys: many } }';
    const patch = `{ applyTo: CLUSTER, match: { cluster: { service: a.example } }, patch: { operation: MERGE, value: { transport_socket: ${socket} } } }`;
    const [{ closing, made = [] } = { closing: "" }] = patches(patch);
    expect(closing).toBe("clusters-refused");
    expect(JSON.stringify(made)).toContain(`"verify_certificate_hash":["${"0".repeat(64)}"]`);
    expect(JSON.stringify(made)).toContain('"service":"a.example"');
  });

  it("closes nothing where it was to protect nothing", () => {
    expect(closed(object("EnvoyFilter", filter("buffer"), "shop", "networking.istio.io/v1alpha3"))).toEqual([]);
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

describe("a refused plugin that decides which requests pass", () => {
  const lua = "lua: { inlineCode: x }";
  it.each([
    ["WasmPlugin", "{ url: 'oci://r/x', phase: AUTHN, failClosed: true }"],
    ["WasmPlugin", "{ url: 'oci://r/x:1', phaze: AUTHN }"],
    ["WasmPlugin", '"phase: AUTHN"'],
    ["TrafficExtension", `{ phase: AUTHN, ${lua}, failClosed: true }`],
    ["TrafficExtension", "{ phase: AUTHZ, lua: { inlineCode: '' } }"],
    ["TrafficExtension", `{ Phase: AUTHZ, ${lua} }`],
  ])("closes its namespace: %s %s", (kind, spec) => {
    expect(closed(object(kind, spec, "shop", "extensions.istio.io/v1alpha1"))).toEqual(denied({}));
  });

  it("closes nothing where its phase is for statistics", () => {
    expect(
      closed(object("WasmPlugin", "{ url: 'oci://r/x', phase: STATS, x: 1 }", "shop", "extensions.istio.io/v1alpha1")),
    ).toEqual([]);
  });
});

describe("a refused EnvoyFilter of what policies see", () => {
  it.each([
    "forward_client_cert_details: SANITIZE",
    "normalize_path: true",
    "path_with_escaped_slashes_action: REJECT_REQUEST",
    "xff_num_trusted_hops: 1",
    "use_remote_address: true",
  ])("closes: %s", (setting) => {
    const typed = `{ "@type": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager, ${setting}, server_name: [1] }`;
    const patch = `{ applyTo: NETWORK_FILTER, patch: { operation: MERGE, value: { name: hcm, typed_config: ${typed} } } }`;
    const text = object("EnvoyFilter", `{ configPatches: [${patch}] }`, "shop", "networking.istio.io/v1alpha3");
    expect(closed(text)).toEqual(denied({}));
  });
});
