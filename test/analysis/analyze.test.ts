import { describe, expect, it } from "vitest";
import { type AnalyzeOptions, analyze, analyzers } from "../../lib/analysis/analyze.ts";
import { messageTypes } from "../../lib/analysis/analyzer.ts";
import { readFiles } from "../../lib/config/folder/directory.ts";
import { envelope } from "../config/a-config.ts";

interface Case {
  readonly code: keyof typeof messageTypes;
  readonly when: string;
  readonly text: string;
  readonly mesh?: string;
  readonly networks?: string;
}

function messages(
  { text, mesh = "", networks = "" }: Pick<Case, "text" | "mesh" | "networks">,
  options: AnalyzeOptions = {},
) {
  const loaded = readFiles([
    { file: "a.yaml", text },
    { file: "mesh.yaml", text: mesh },
    { file: "networks.yaml", text: networks },
  ]);
  return analyze({ ...loaded, clusterIds: ["Kubernetes"] }, options);
}

const docs = (...documents: readonly string[]) => documents.join("\n---\n");
const of = (kind: string, name: string, spec: string, namespace = "default") =>
  `${envelope(kind, name, namespace)}spec: ${spec}`;
const object = (apiVersion: string, kind: string, metadata: string, rest = "") =>
  `apiVersion: ${apiVersion}\nkind: ${kind}\nmetadata: {${metadata}}\n${rest}`;
const service = (name: string, ports = "[{name: http, port: 80}]", extra = "") =>
  object(
    "v1",
    "Service",
    `name: ${name}, namespace: default`,
    `spec: {selector: {app: ${name}}, ports: ${ports}${extra}}`,
  );
const pod = (name: string, labels: string, spec = "{}") =>
  object("v1", "Pod", `name: ${name}, namespace: default, labels: {${labels}}`, `spec: ${spec}`);
const route = (to: string) => `http: [{route: [{destination: {${to}}}]}]`;
const server = (hosts = '["*"]', extra = "") =>
  `{port: {number: 80, name: h, protocol: HTTP}, hosts: ${hosts}${extra}}`;
const ingress = "istio: ingress";

const cases: readonly Case[] = [
  {
    code: "IST0002",
    when: "a delay is given in whole percent",
    text: of(
      "VirtualService",
      "a",
      "{hosts: [a], http: [{route: [{destination: {host: a}}], fault: {delay: {percent: 5, fixedDelay: 1s}}}]}",
    ),
  },
  {
    code: "IST0002",
    when: "Telemetry uses Lightstep",
    mesh: "extensionProviders: [{name: l, lightstep: {service: l.x.y, port: 1, accessToken: a}}]",
    text: of("Telemetry", "t", "{tracing: [{providers: [{name: l}]}]}"),
  },
  {
    code: "IST0106",
    when: "a kind is misspelt",
    text: of("VirtualServce", "a", "{hosts: [a]}"),
  },
  {
    code: "IST0106",
    when: "an object of Kubernetes' own is invalid",
    text: service("web", "[{name: http, port: 99999}]"),
  },
  {
    code: "IST0101",
    when: "a backend or a mirror of an HTTPRoute names a port that its service has not",
    text: docs(
      service("a"),
      object(
        "gateway.networking.k8s.io/v1",
        "HTTPRoute",
        "name: r, namespace: default",
        "spec: {rules: [{backendRefs: [{name: a, port: 80}, {name: a, port: 81}], filters: [{type: RequestMirror, requestMirror: {backendRef: {name: a, port: 82}}}]}]}",
      ),
    ),
  },
  {
    code: "IST0101",
    when: "a destination is no known host",
    text: of("VirtualService", "a", `{hosts: [a], ${route("host: nowhere")}}`),
  },
  {
    code: "IST0101",
    when: "a mirror is no known host",
    text: docs(
      service("a"),
      of("VirtualService", "a", "{hosts: [a], http: [{route: [{destination: {host: a}}], mirror: {host: nowhere}}]}"),
    ),
  },
  {
    code: "IST0101",
    when: "a destination names a port that is not there",
    text: docs(service("a"), of("VirtualService", "a", `{hosts: [a], ${route("host: a, port: {number: 81}")}}`)),
  },
  {
    code: "IST0101",
    when: "a subset is not defined",
    text: docs(service("a"), of("VirtualService", "a", `{hosts: [a], ${route("host: a, subset: v1")}}`)),
  },
  {
    code: "IST0101",
    when: "a gateway does not exist",
    text: docs(service("a"), of("VirtualService", "a", `{hosts: [a.b], gateways: [g], ${route("host: a")}}`)),
  },
  {
    code: "IST0101",
    when: "a gateway selects nothing",
    text: of("Gateway", "g", `{selector: {${ingress}}, servers: [${server()}]}`),
  },
  {
    code: "IST0101",
    when: "a gateway's secret does not exist",
    text: of(
      "Gateway",
      "g",
      "{servers: [{port: {number: 443, name: s, protocol: HTTPS}, hosts: [a.b], tls: {mode: SIMPLE, credentialName: c}}]}",
    ),
  },
  {
    code: "IST0101",
    when: "a policy names a namespace that does not exist",
    text: docs(
      object("v1", "Namespace", "name: default"),
      of("AuthorizationPolicy", "p", "{rules: [{from: [{source: {namespaces: [nowhere]}}]}]}"),
    ),
  },
  { code: "IST0102", when: "a namespace says nothing about injection", text: object("v1", "Namespace", "name: n") },
  {
    code: "IST0103",
    when: "a pod lacks its proxy",
    text: docs(
      object("v1", "Namespace", "name: default, labels: {istio-injection: enabled}"),
      pod("p", "a: b", "{containers: [{name: app}]}"),
    ),
  },
  { code: "IST0106", when: "an object is invalid", text: of("DestinationRule", "d", "{hots: a}") },
  {
    code: "IST0109",
    when: "two VirtualServices claim one host",
    text: docs(
      service("a"),
      of("VirtualService", "a", `{hosts: [a], ${route("host: a")}}`),
      of("VirtualService", "b", `{hosts: [a], ${route("host: a")}}`),
    ),
  },
  {
    code: "IST0110",
    when: "two Sidecars select one pod",
    text: docs(
      pod("p", "app: a"),
      of("Sidecar", "a", '{workloadSelector: {labels: {app: a}}, egress: [{hosts: ["./*"]}]}'),
      of("Sidecar", "b", '{workloadSelector: {labels: {app: a}}, egress: [{hosts: ["./*"]}]}'),
    ),
  },
  {
    code: "IST0111",
    when: "two Sidecars have no selector",
    text: docs(of("Sidecar", "a", '{egress: [{hosts: ["./*"]}]}'), of("Sidecar", "b", '{egress: [{hosts: ["./*"]}]}')),
  },
  {
    code: "IST0112",
    when: "a destination with several ports names none",
    text: docs(
      service("a", "[{name: http, port: 80}, {name: http-b, port: 81}]"),
      of("VirtualService", "a", `{hosts: [a], ${route("host: a")}}`),
    ),
  },
  {
    code: "IST0116",
    when: "one port has two protocols",
    text: docs(
      service("a", "[{name: http, port: 80, protocol: TCP}]"),
      object(
        "v1",
        "Service",
        "name: b, namespace: default",
        "spec: {selector: {app: a}, ports: [{name: x, port: 80, protocol: UDP}]}",
      ),
      object(
        "apps/v1",
        "Deployment",
        "name: a, namespace: default",
        "spec: {template: {metadata: {labels: {app: a}}}}",
      ),
    ),
  },
  { code: "IST0118", when: "the name of a port says no protocol", text: service("a", "[{name: foo, port: 80}]") },
  {
    code: "IST0123",
    when: "a namespace has two labels for injection",
    text: object("v1", "Namespace", "name: n, labels: {istio-injection: enabled, istio.io/rev: x}"),
  },
  {
    code: "IST0126",
    when: "a network names an unknown cluster",
    networks: "networks: {n: {endpoints: [{fromRegistry: other}]}}",
    text: "",
  },
  {
    code: "IST0127",
    when: "a policy selects nothing",
    text: of("AuthorizationPolicy", "p", "{selector: {matchLabels: {app: none}}}"),
  },
  {
    code: "IST0128",
    when: "TLS verifies nothing",
    text: docs(service("a"), of("DestinationRule", "d", "{host: a, trafficPolicy: {tls: {mode: SIMPLE}}}")),
  },
  {
    code: "IST0129",
    when: "TLS of a port verifies nothing",
    text: docs(
      service("a"),
      of(
        "DestinationRule",
        "d",
        "{host: a, trafficPolicy: {portLevelSettings: [{port: {number: 80}, tls: {mode: SIMPLE}}]}}",
      ),
    ),
  },
  {
    code: "IST0130",
    when: "a rule is never used",
    text: docs(
      service("a"),
      of(
        "VirtualService",
        "a",
        "{hosts: [a], http: [{route: [{destination: {host: a}}]}, {route: [{destination: {host: a}}]}]}",
      ),
    ),
  },
  {
    code: "IST0131",
    when: "a match has no effect",
    text: docs(
      service("a"),
      of(
        "VirtualService",
        "a",
        "{hosts: [a], http: [{match: [{uri: {prefix: /a}}], route: [{destination: {host: a}}]}, {match: [{uri: {prefix: /a}}, {uri: {prefix: /b}}], route: [{destination: {host: a}}]}]}",
      ),
    ),
  },
  {
    code: "IST0132",
    when: "a gateway has no host of the VirtualService",
    text: docs(
      service("a"),
      of("Gateway", "g", `{servers: [${server("[x.y]")}]}`),
      of("VirtualService", "a", `{hosts: [a.b], gateways: [g], ${route("host: a")}}`),
    ),
  },
  {
    code: "IST0133",
    when: "a field is deprecated",
    text: docs(
      service("a"),
      of("DestinationRule", "d", "{host: a, trafficPolicy: {outlierDetection: {consecutiveErrors: 5}}}"),
    ),
  },
  {
    code: "IST0134",
    when: "a TCP port has no address",
    text: of("ServiceEntry", "s", "{hosts: [a.b], ports: [{number: 9, name: t, protocol: TCP}]}"),
  },
  {
    code: "IST0137",
    when: "a target port is reached in two ways",
    text: docs(
      service("a", "[{name: http, port: 80, targetPort: 8080}]"),
      object(
        "v1",
        "Service",
        "name: b, namespace: default",
        "spec: {selector: {app: a}, ports: [{name: http, port: 81, targetPort: 8080}]}",
      ),
      object(
        "apps/v1",
        "Deployment",
        "name: a, namespace: default",
        "spec: {template: {metadata: {labels: {app: a}}}}",
      ),
    ),
  },
  {
    code: "IST0138",
    when: "two gateways share a certificate",
    text: docs(
      ...["a", "b"].map((name) =>
        of(
          "Gateway",
          name,
          `{servers: [{port: {number: 443, name: s, protocol: HTTPS}, hosts: [${name}.b], tls: {mode: SIMPLE, credentialName: c}}]}`,
        ),
      ),
    ),
  },
  {
    code: "IST0140",
    when: "a gateway bypasses subsets",
    text: docs(
      service("a"),
      of("DestinationRule", "d", "{host: a, subsets: [{name: v1}]}"),
      of("VirtualService", "m", `{hosts: [a], ${route("host: a, subset: v1")}}`),
      of("Gateway", "g", `{servers: [${server()}]}`),
      of("VirtualService", "e", `{hosts: [a.b], gateways: [g], ${route("host: a")}}`),
    ),
  },
  {
    code: "IST0144",
    when: "an application runs as the proxy's user",
    text: pod("p", "a: b", "{containers: [{name: app, securityContext: {runAsUser: 1337}}]}"),
  },
  {
    code: "IST0145",
    when: "two gateways claim one host",
    text: docs(
      of("Gateway", "a", `{servers: [${server("[x.y]")}]}`),
      of("Gateway", "b", `{servers: [${server("[x.y]")}]}`),
    ),
  },
  {
    code: "IST0149",
    when: "claims are routed on without authentication",
    text: docs(
      service("a"),
      pod("p", ingress),
      of("Gateway", "g", `{selector: {${ingress}}, servers: [${server()}]}`),
      of(
        "VirtualService",
        "a",
        '{hosts: [a.b], gateways: [g], http: [{match: [{headers: {"@request.auth.claims.x": {exact: y}}}], route: [{destination: {host: a}}]}]}',
      ),
    ),
  },
  {
    code: "IST0150",
    when: "an ExternalName port says no protocol",
    text: service("a", "[{name: tcp, port: 80}]", ", type: ExternalName, externalName: x.y"),
  },
  {
    code: "IST0151",
    when: "a patch depends on the order of filters",
    text: of(
      "EnvoyFilter",
      "f",
      "{configPatches: [{applyTo: HTTP_FILTER, patch: {operation: INSERT_BEFORE, value: {name: x}}}]}",
    ),
  },
  {
    code: "IST0152",
    when: "REPLACE is used on a cluster",
    text: of(
      "EnvoyFilter",
      "f",
      "{priority: 1, configPatches: [{applyTo: CLUSTER, patch: {operation: REPLACE, value: {name: x}}}]}",
    ),
  },
  {
    code: "IST0153",
    when: "ADD is used on a route",
    text: of(
      "EnvoyFilter",
      "f",
      "{configPatches: [{applyTo: HTTP_ROUTE, patch: {operation: ADD, value: {name: x, match: {prefix: /}, route: {cluster: c}}}}]}",
    ),
  },
  {
    code: "IST0154",
    when: "REMOVE is used on a route",
    text: of("EnvoyFilter", "f", "{priority: 1, configPatches: [{applyTo: HTTP_ROUTE, patch: {operation: REMOVE}}]}"),
  },
  {
    code: "IST0155",
    when: "a relative patch meets patches for versions",
    text: of(
      "EnvoyFilter",
      "f",
      '{configPatches: [{applyTo: HTTP_FILTER, match: {proxy: {proxyVersion: "1.*"}}, patch: {operation: INSERT_BEFORE, value: {name: x}}}]}',
    ),
  },
  { code: "IST0157", when: "logging names no provider", text: of("Telemetry", "t", "{accessLogging: [{}]}") },
  {
    code: "IST0159",
    when: "two Telemetries select one pod",
    text: docs(
      pod("p", "app: a"),
      ...["a", "b"].map((name) => of("Telemetry", name, "{selector: {matchLabels: {app: a}}}")),
    ),
  },
  {
    code: "IST0160",
    when: "two Telemetries have no selector",
    text: docs(of("Telemetry", "a", "{}"), of("Telemetry", "b", "{}")),
  },
  {
    code: "IST0161",
    when: "a secret holds no certificate",
    text: docs(
      object("v1", "Secret", "name: c, namespace: default", "stringData: {tls.crt: x, tls.key: y}"),
      of(
        "Gateway",
        "g",
        "{servers: [{port: {number: 443, name: s, protocol: HTTPS}, hosts: [a.b], tls: {mode: SIMPLE, credentialName: c}}]}",
      ),
    ),
  },
  {
    code: "IST0162",
    when: "no service has the gateway's port",
    text: docs(
      pod("p", "app: g"),
      service("g", "[{name: http, port: 8080}]"),
      of("Gateway", "g", `{selector: {app: g}, servers: [${server()}]}`),
    ),
  },
  {
    code: "IST0173",
    when: "a subset selects no pod",
    text: docs(
      service("a"),
      pod("p", "app: a"),
      of("DestinationRule", "d", "{host: a, subsets: [{name: v1, labels: {version: v1}}]}"),
    ),
  },
  { code: "IST0174", when: "a rule is for an unknown host", text: of("DestinationRule", "d", "{host: nowhere}") },
  {
    code: "IST0177",
    when: "two entries disagree about a protocol",
    text: docs(
      ...["HTTP", "TCP"].map((protocol) =>
        of(
          "ServiceEntry",
          protocol.toLowerCase(),
          `{hosts: [a.b], addresses: [1.2.3.4], ports: [{number: 9, name: p, protocol: ${protocol}}]}`,
        ),
      ),
    ),
  },
];

/** Everything in order: what every analyser must be content with. */
const clean = docs(
  object("v1", "Namespace", "name: default, labels: {istio-injection: enabled}"),
  service("a"),
  pod("a-1", "app: a, version: v1, security.istio.io/tlsMode: istio"),
  service("gw"),
  pod("gw-1", "app: gw, security.istio.io/tlsMode: istio"),
  of("Gateway", "g", `{selector: {app: gw}, servers: [${server("[a.example.com]")}]}`),
  of("DestinationRule", "a", "{host: a, subsets: [{name: v1, labels: {version: v1}}]}"),
  of("VirtualService", "a", `{hosts: [a, a.example.com], gateways: [mesh, g], ${route("host: a, subset: v1")}}`),
  of("AuthorizationPolicy", "p", "{selector: {matchLabels: {app: a}}, rules: [{}]}"),
  of("Sidecar", "s", '{egress: [{hosts: ["./*"]}]}'),
);

describe("analyze", () => {
  it.each(cases)("gives $code when $when", ({ code, text, mesh = "", networks = "" }) => {
    const found = messages({ text, mesh, networks }).filter((message) => message.code === code);
    expect(found).not.toEqual([]);
    expect(new Set(found.map(({ severity }) => severity))).toEqual(new Set([messageTypes[code][1]]));
  });

  it("has a case for every message that it can give", () => {
    expect(new Set(cases.map(({ code }) => code))).toEqual(new Set(Object.keys(messageTypes)));
  });

  it("has nothing to say about what is in order", () => {
    expect(messages({ text: clean })).toEqual([]);
  });

  it("says it of a backend with such a port at its object and path, and of no backend that another message is about", () => {
    const route = (backend: string) =>
      object(
        "gateway.networking.k8s.io/v1",
        "HTTPRoute",
        "name: r, namespace: default",
        `spec:\n  rules:\n  - backendRefs:\n    - {${backend}}`,
      );
    const told = (backend: string) => messages({ text: docs(service("a"), route(backend)) });
    expect(
      told("name: a, port: 81").map(({ origin, path, message }) => [origin.line, path.join("."), message]),
    ).toEqual([
      [6, "spec.rules.0.backendRefs.0.port", 'referenced host:port not found: "a.default.svc.cluster.local:81"'],
    ]);
    for (const fine of ["name: a, port: 80", "name: nowhere, port: 81", "name: x, kind: Bucket, group: example.com"])
      expect(told(fine)).toEqual([]);
  });

  it("says of a route whose gateway is not there which one may be meant, and nothing of another parent", () => {
    const api = "gateway.networking.k8s.io/v1";
    const gateway = object(
      api,
      "Gateway",
      "name: entry, namespace: edge",
      "spec: {gatewayClassName: istio, listeners: [{name: http, port: 80, protocol: HTTP}]}",
    );
    const route = (parent: string) =>
      object(api, "HTTPRoute", "name: r, namespace: shop", `spec:\n  parentRefs:\n  - {${parent}}`);
    const told = (parent: string) =>
      messages({ text: docs(gateway, route(parent)) })
        .filter(({ code }) => code === "IST0101")
        .map(({ path, message, hint }) => [path.join("."), message, hint]);
    const notFound = (name: string) => ["spec.parentRefs.0.name", `referenced parent not found: "${name}"`];
    expect(told("name: entri, namespace: edge")).toEqual([[...notFound("edge/entri"), "did you mean edge/entry?"]]);
    expect(told("name: entry")).toEqual([[...notFound("shop/entry"), "did you mean edge/entry?"]]);
    expect(told("name: other")).toEqual([[...notFound("shop/other"), ""]]);
    for (const fine of ["name: entry, namespace: edge", 'name: web, kind: Service, group: ""'])
      expect(told(fine)).toEqual([]);
  });

  it("sorts by level, code and place", () => {
    const found = messages({ text: docs(...cases.slice(0, 20).map(({ text }) => text)) });
    const rank = { error: 0, warning: 1, info: 2 };
    const keys = found.map(({ severity, code }) => `${rank[severity]} ${code}`);
    expect(keys).toEqual([...keys].sort());
  });

  it("leaves out what an option or an annotation suppresses", () => {
    const text = of("DestinationRule", "d", "{host: nowhere}");
    expect(messages({ text }, { suppress: ["IST0174=DestinationRule d.*"] })).toEqual([]);
    expect(messages({ text }, { suppress: ["IST0174=DestinationRule e.*"] })).toHaveLength(1);
    const annotated = text.replace("name: d", 'name: d, annotations: {galley.istio.io/analyze-suppress: "IST0174"}');
    expect(messages({ text: annotated })).toEqual([]);
  });

  it("runs the analysers that are named, and all of them when no name is known", () => {
    const text = docs(of("DestinationRule", "d", "{host: nowhere}"), object("v1", "Namespace", "name: n"));
    expect(messages({ text }, { only: ["injection.Analyzer"] }).map(({ code }) => code)).toEqual(["IST0102"]);
    expect(messages({ text }, { only: ["nothing"] })).toHaveLength(2);
    expect(new Set(analyzers.map(({ name }) => name)).size).toBe(analyzers.length);
  });

  it("reports a document that cannot be read", () => {
    expect(messages({ text: "a: [" }).map(({ code }) => code)).toEqual(["IST0106"]);
  });
});
