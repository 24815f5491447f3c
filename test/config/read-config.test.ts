import { describe, expect, it } from "vitest";
import { readFiles } from "../../lib/config/folder/directory.ts";

const head = (kind: string, apiVersion = "networking.istio.io/v1") =>
  `apiVersion: ${apiVersion}\nkind: ${kind}\nmetadata: {name: a}\n`;
const read = (text: string, options = {}) => readFiles([{ file: "a.yaml", text }], options);
const specOf = (text: string) => read(text).configs[0]?.spec;
const said = (text: string) =>
  read(text).diagnostics.map(
    ({ severity, origin, path, message, hint }) => `${severity} ${origin.line} ${path.join(".")} ${message} (${hint})`,
  );

describe("readConfig", () => {
  it("puts an object without namespace into default", () => {
    expect(
      read(`${head("Gateway")}spec: {servers: [{port: {number: 80, name: h, protocol: HTTP}, hosts: ["*"]}]}`)
        .configs[0]?.meta,
    ).toMatchObject({
      kind: "Gateway",
      namespace: "default",
      domain: "cluster.local",
      resourceVersion: "",
      creationTimestampMs: Date.UTC(2024, 0, 1),
    });
  });

  it("names the line of a misspelt field and the field that was meant", () => {
    expect(said(`${head("VirtualService")}spec:\n  hosts: [a]\n  http:\n  - rout: []\n`)).toEqual([
      'error 7 spec.http.0.rout unknown field "rout" (did you mean "route"?)',
    ]);
  });

  it("keeps the object with a warning where unknown fields are to be ignored", () => {
    const text = `${head("DestinationRule")}spec: {host: a, hots: b}`;
    const { configs, diagnostics } = read(text, { unknownFields: "ignore" });
    expect(configs[0]?.spec).toEqual({ host: "a" });
    expect(diagnostics.map(({ severity, code }) => `${severity} ${code}`)).toEqual(["warning unknown-field"]);
  });

  it("costs an invalid object only itself", () => {
    const { configs, diagnostics } = read(
      `${head("DestinationRule")}spec: {host: 5}\n---\n${head("DestinationRule").replace("name: a", "name: b")}spec: {host: b}`,
    );
    expect(configs.map((config) => config.meta.name)).toEqual(["b"]);
    expect(diagnostics.map((diagnostic) => diagnostic.origin.key.name)).toEqual(["a"]);
  });

  it("takes snake_case names at every level", () => {
    expect(
      specOf(`${head("DestinationRule")}spec: {host: a, traffic_policy: {load_balancer: {simple: RANDOM}}}`),
    ).toEqual({
      host: "a",
      trafficPolicy: { loadBalancer: { simple: "RANDOM" } },
    });
  });

  it.each([
    ["5s", "5s"],
    ["100ms", "0.100s"],
    ["1.5s", "1.500s"],
    ["1m30s", "90s"],
    ["0.25h", "900s"],
    ["1.0015s", undefined],
    ["0s", undefined],
    ["5", undefined],
    ["-1s", undefined],
  ])("reads the timeout %s as %s", (written, want) => {
    const spec = specOf(
      `${head("VirtualService")}spec: {hosts: [a], http: [{route: [{destination: {host: b}}], timeout: ${written}}]}`,
    );
    expect(spec).toEqual(
      want === undefined
        ? undefined
        : { hosts: ["a"], http: [{ route: [{ destination: { host: "b" } }], timeout: want }] },
    );
  });

  it("reads explicit zeros of plain fields as absent, and keeps those of wrappers", () => {
    const policy =
      "{connectionPool: {tcp: {maxConnections: 0}}, outlierDetection: {consecutive5xxErrors: 0, maxEjectionPercent: 0}, loadBalancer: {localityLbSetting: {enabled: false}}}";
    expect(specOf(`${head("DestinationRule")}spec: {host: a, exportTo: [], trafficPolicy: ${policy}}`)).toEqual({
      host: "a",
      trafficPolicy: {
        connectionPool: { tcp: {} },
        outlierDetection: { consecutive5xxErrors: 0 },
        loadBalancer: { localityLbSetting: { enabled: false } },
      },
    });
  });

  it("reads null as absent, and a null list element as an error", () => {
    expect(specOf(`${head("DestinationRule")}spec: {host: a, subsets: null}`)).toEqual({ host: "a" });
    expect(said(`${head("DestinationRule")}spec: {host: a, subsets: [null]}`)).toHaveLength(1);
  });

  it("refuses numbers that are written as texts, as an API server does", () => {
    expect(said(`${head("WorkloadEntry")}spec: {address: 1.2.3.4, weight: "7"}`)).toEqual([
      'error 4 spec.weight "7" must be a number (write it without quotes)',
    ]);
    expect(
      said(`${head("Sidecar")}spec: {egress: [{port: {number: "80", protocol: HTTP, name: h}, hosts: ["./*"]}]}`),
    ).toEqual(['error 4 spec.egress.0.port.number "80" must be a number (write it without quotes)']);
    expect(said(`${head("WorkloadEntry")}spec: {address: 1.2.3.4, labels: {version: "7"}, ports: {http: 80}}`)).toEqual(
      [],
    );
    expect(said(`${head("WorkloadEntry")}spec: {address: 1.2.3.4, weight: seven}`)).toEqual([
      'error 4 spec.weight "seven" must be a number ()',
    ]);
  });

  it("takes numbers as texts where a server was asked, and of kinds that had no schema in a cluster", () => {
    const entry = `${head("WorkloadEntry")}spec: {address: 1.2.3.4, weight: "7"}`;
    expect(read(entry, { unknownFields: "ignore" }).configs[0]?.spec).toEqual({ address: "1.2.3.4", weight: 7 });
    const legacy = `${head("RouteRule", "config.istio.io/v1alpha2")}spec: {destination: {name: a}, precedence: "7"}`;
    expect(said(legacy).filter((text) => text.startsWith("error"))).toEqual([]);
  });

  it("refuses versions that a kind does not have", () => {
    expect(said(`${head("EnvoyFilter", "networking.istio.io/v1")}spec: {}`)).toEqual([
      'error 1 apiVersion "v1" is no version of EnvoyFilter (known: v1alpha3)',
    ]);
  });

  it("says of kinds without effect that they have none", () => {
    expect(read(`${head("WorkloadGroup")}spec: {template: {serviceAccount: a}}`).diagnostics).toMatchObject([
      { severity: "info", code: "no-effect" },
    ]);
  });

  it("keeps other systems' kinds apart, with a warning", () => {
    const { others, configs, objects, diagnostics } = read(`${head("VirtualServer", "k8s.nginx.org/v1")}spec: {}`);
    expect([configs, objects]).toEqual([[], []]);
    expect(others.map((object) => object.kind)).toEqual(["VirtualServer"]);
    expect(diagnostics).toMatchObject([{ code: "unknown-kind", severity: "warning" }]);
  });

  it.each([
    { kind: "VirtualServce", apiVersion: "networking.istio.io/v1", hint: "did you mean VirtualService?" },
    { kind: "Egress", apiVersion: "networking.istio.io/v1", hint: "" },
    { kind: "VirtualService", apiVersion: "networking.istio.oi/v1", hint: "did you mean networking.istio.io?" },
    { kind: "VirtualService", apiVersion: "v1", hint: "VirtualService is a kind of networking.istio.io" },
    { kind: "Deployment", apiVersion: "v1", hint: "Deployment is a kind of apps" },
    { kind: "Deploiment", apiVersion: "apps/v1", hint: "did you mean Deployment?" },
    { kind: "Pods", apiVersion: "v1", hint: "did you mean Pod?" },
    {
      kind: "RequestAuthentication",
      apiVersion: "networking.istio.io/v1",
      hint: "RequestAuthentication is a kind of security.istio.io",
    },
  ])("refuses $apiVersion $kind, which is nearly a known kind", ({ kind, apiVersion, hint }) => {
    const { diagnostics } = read(`${head(kind, apiVersion)}spec: {}`);
    expect(diagnostics).toMatchObject([{ code: "unknown-kind", severity: "error", hint }]);
  });

  it("lets the later of two objects with one key count, and says that this is an error", () => {
    const text = `${head("DestinationRule")}spec: {host: one}\n---\n${head("DestinationRule")}spec: {host: two}`;
    const { configs, diagnostics } = read(text);
    expect(configs.map((config) => config.spec)).toEqual([{ host: "two" }]);
    expect(diagnostics.map(({ code, severity, origin }) => `${severity} ${code} ${origin.line}`)).toEqual([
      "error duplicate-object 6",
    ]);
  });

  it("knows that an object without namespace is in default", () => {
    const service = "apiVersion: v1\nkind: Service\nmetadata: {name: web";
    const { objects, diagnostics } = read(`${service}}\n---\n${service}, namespace: default}\n`);
    expect(objects).toHaveLength(1);
    expect(diagnostics.map(({ code }) => code)).toEqual(["duplicate-object"]);
  });

  it.each([
    { metadata: "{name: Web}", want: 'metadata.name "Web" is not a valid name of an object' },
    { metadata: "{name: web, namespace: my.shop}", want: 'metadata.namespace "my.shop" is no name of a namespace' },
    { metadata: "{name: web, labels: {version: 010}}", want: "metadata.labels.version 10 must be a text" },
    { metadata: "{name: web, labels: {a b: c}}", want: 'metadata.labels.a b "a b" is not a label key' },
    { metadata: "{name: web, labels: {a: -b}}", want: 'metadata.labels.a "-b" is not a label value' },
    { metadata: `{name: web, labels: {a: ${"b".repeat(64)}}}`, want: /metadata.labels.a "b+" is not a label value/ },
    { metadata: "{name: web, annotations: {a: true}}", want: "metadata.annotations.a true must be a text" },
    {
      metadata: "{name: web, annotations: {a/b/c: d}}",
      want: 'metadata.annotations.a/b/c "a/b/c" is not an annotation key',
    },
  ])("refuses the metadata $metadata of any kind", ({ metadata, want }) => {
    for (const head of ["apiVersion: v1\nkind: ConfigMap", "apiVersion: networking.istio.io/v1\nkind: Gateway"]) {
      const spec = head.includes("Gateway")
        ? "spec: {selector: {a: b}, servers: [{hosts: [a.b], port: {number: 80, name: a, protocol: HTTP}}]}"
        : "data: {}";
      const { configs, objects, diagnostics } = read(`${head}\nmetadata: ${metadata}\n${spec}\n`);
      expect([configs, objects]).toEqual([[], []]);
      const errors = diagnostics.filter(({ severity }) => severity === "error");
      expect(errors.map(({ path, message }) => `${path.join(".")} ${message}`)).toEqual([
        typeof want === "string" ? want : expect.stringMatching(want),
      ]);
    }
  });

  const long = "a-release-with-a-rather-long-name-and-the-namespace-in-it-virtual-service";
  it.each([
    { head: "apiVersion: networking.istio.io/v1\nkind: DestinationRule", name: long, isValid: true },
    { head: "apiVersion: v1\nkind: ConfigMap", name: `${long}.${long}.${long}`, isValid: true },
    { head: "apiVersion: v1\nkind: ConfigMap", name: "a".repeat(253), isValid: true },
    { head: "apiVersion: v1\nkind: ConfigMap", name: "a".repeat(254), isValid: false },
    { head: "apiVersion: v1\nkind: ConfigMap", name: "a-.b", isValid: false },
    { head: "apiVersion: v1\nkind: Namespace", name: "a".repeat(63), isValid: true },
    { head: "apiVersion: v1\nkind: Namespace", name: "a".repeat(64), isValid: false },
    { head: "apiVersion: v1\nkind: Service", name: "a.b", isValid: false },
    { head: "apiVersion: v1\nkind: Service", name: long, isValid: false },
    { head: "apiVersion: rbac.authorization.k8s.io/v1\nkind: Role", name: `System:${long}`, isValid: true },
    { head: "apiVersion: rbac.authorization.k8s.io/v1\nkind: Role", name: '".."', isValid: false },
  ])("takes the name $name as an API server does: $isValid ($head)", ({ head, name, isValid }) => {
    const spec = head.endsWith("DestinationRule") ? "spec: {host: a}\n" : "";
    const errors = read(`${head}\nmetadata: {name: ${name}}\n${spec}`).diagnostics.filter(
      ({ severity }) => severity === "error",
    );
    expect(errors.map(({ path }) => path.join("."))).toEqual(isValid ? [] : ["metadata.name"]);
  });

  it.each([
    "spec: {rules: [{to: [{$patch: replace}]}]}",
    "spec: {action: ALOW, $retainKeys: [rules]}",
    "spec: {$setElementOrder/rules: [], rules: [{from: 1}]}",
  ])("passes over a patch for Kustomize in one line, and closes what it was to protect: %s", (spec) => {
    const policy = `apiVersion: security.istio.io/v1\nkind: AuthorizationPolicy\nmetadata: {name: a, namespace: shop}\n${spec}\n`;
    const { configs, closed, diagnostics } = read(policy);
    expect(configs).toEqual([]);
    expect(diagnostics.map(({ severity, code }) => `${severity} ${code}`)).toEqual(["info kustomize-input"]);
    expect(closed).toHaveLength(1);
  });

  it("passes over an object whose faults are all variables to be filled in, in one line, and closes what it was to protect", () => {
    const filledIn = (name: string) => `$\{${name}}`;
    const variables = `metadata: {name: "${filledIn("name")}", namespace: shop}`;
    const entry = `apiVersion: networking.istio.io/v1\nkind: ServiceEntry\n${variables}\nspec: {hosts: ["${filledIn("host")}"], ports: [{name: http, number: "${filledIn("port:=80")}", protocol: HTTP}]}\n`;
    const policy = `apiVersion: security.istio.io/v1\nkind: AuthorizationPolicy\n${variables}\nspec: {}\n`;
    const { configs, closed, diagnostics } = read(`${entry}---\n${policy}`);
    expect(configs).toEqual([]);
    expect(diagnostics.map(({ severity, code, origin }) => `${severity} ${code} ${origin.key.kind}`)).toEqual([
      "info unfilled-variables ServiceEntry",
      "info unfilled-variables AuthorizationPolicy",
    ]);
    expect(closed).toHaveLength(1);
    const other = entry.replace("spec: {", "spec: {hots: [], ");
    expect(read(other).diagnostics.some(({ severity }) => severity === "error")).toBe(true);
  });

  it("takes a Secret without values", () => {
    const { objects, diagnostics } = read("apiVersion: v1\nkind: Secret\nmetadata: {name: a}\n");
    expect([objects.length, diagnostics]).toEqual([1, []]);
  });

  it("tells Kubernetes objects from configuration", () => {
    const text = "apiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: n}\n";
    expect(read(text).objects[0]).toMatchObject({
      kind: "Pod",
      origin: { key: { kind: "Pod", name: "p", namespace: "n" } },
    });
  });

  it.each([
    ["istio.io/dry-run", "true", "has no meaning on a Gateway"],
    ["internal.istio.io/parents", "x", "internal use"],
    ["internal.istio.io/webhook-always-reject", "", "asks to be refused"],
  ])("refuses the annotation %s", (name, value, message) => {
    const text = `apiVersion: networking.istio.io/v1\nkind: Gateway\nmetadata: {name: a, annotations: {"${name}": "${value}"}}\nspec: {servers: [{port: {number: 80, name: h, protocol: HTTP}, hosts: ["*"]}]}`;
    expect(said(text).join()).toContain(message);
  });

  it("reads Ingresses of former versions as today's", () => {
    const text =
      "apiVersion: extensions/v1beta1\nkind: Ingress\nmetadata: {name: a}\nspec: {backend: {serviceName: s, servicePort: http}}";
    expect(read(text).configs[0]).toMatchObject({
      meta: { group: "networking.k8s.io" },
      spec: { defaultBackend: { service: { name: "s", port: { name: "http" } } } },
    });
  });

  it("reads a null mtls of a legacy policy as mutual TLS", () => {
    const text = `${head("Policy", "authentication.istio.io/v1alpha1")}spec: {peers: [{mtls: null}]}`;
    expect(specOf(text)).toEqual({ peers: [{ mtls: {} }] });
  });

  it("knows legacy kinds by their kebab-case names", () => {
    const text = "kind: route-rule\nmetadata: {name: a}\nspec: {destination: {name: world}}";
    expect(read(text).configs[0]?.meta).toMatchObject({ kind: "RouteRule", group: "config.istio.io" });
    expect(read(text.replace("route-rule", "http-api-spec-binding")).diagnostics[0]?.origin.key.kind).toBe(
      "HTTPAPISpecBinding",
    );
  });

  it("reads what releases 0.7 and 0.8 spelled otherwise", () => {
    const v1alpha3 = "networking.istio.io/v1alpha3";
    expect(
      specOf(
        `${head("DestinationRule", v1alpha3)}spec: {name: a, trafficPolicy: {outlierDetection: {http: {interval: 1s}}}}`,
      ),
    ).toEqual({
      host: "a",
      trafficPolicy: { outlierDetection: { interval: "1s" } },
    });
    expect(
      read(
        `${head("ExternalService", v1alpha3)}spec: {hosts: [a.b], discovery: DNS, ports: [{number: 80, name: h, protocol: http}]}`,
      ).configs[0],
    ).toMatchObject({
      meta: { kind: "ServiceEntry" },
      spec: { hosts: ["a.b"], resolution: "DNS" },
    });
  });
});
