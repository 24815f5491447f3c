import { describe, expect, it } from "vitest";
import { readFiles } from "../../lib/config/directory.ts";

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

  it("takes numbers that are written as texts", () => {
    expect(specOf(`${head("WorkloadEntry")}spec: {address: 1.2.3.4, weight: "7"}`)).toEqual({
      address: "1.2.3.4",
      weight: 7,
    });
    expect(said(`${head("WorkloadEntry")}spec: {address: 1.2.3.4, weight: seven}`)).toEqual([
      'error 4 spec.weight "seven" must be a number ()',
    ]);
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

  it("keeps unknown kinds apart, and guesses what was meant", () => {
    const { others, configs, diagnostics } = read(`${head("VirtualServise")}spec: {}`);
    expect(configs).toEqual([]);
    expect(others.map((object) => object.kind)).toEqual(["VirtualServise"]);
    expect(diagnostics[0]).toMatchObject({ code: "unknown-kind", hint: "did you mean VirtualService?" });
  });

  it("lets the later of two objects with one key count, and says so", () => {
    const text = `${head("DestinationRule")}spec: {host: one}\n---\n${head("DestinationRule")}spec: {host: two}`;
    const { configs, diagnostics } = read(text);
    expect(configs.map((config) => config.spec)).toEqual([{ host: "two" }]);
    expect(diagnostics.map(({ code, origin }) => `${code} ${origin.line}`)).toEqual(["duplicate-object 6"]);
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
