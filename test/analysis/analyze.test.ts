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
const tlsServer = (host: string, credential: string, name = "s") =>
  `{port: {number: 443, name: ${name}, protocol: HTTPS}, hosts: [${host}], tls: {mode: SIMPLE, credentialName: ${credential}}}`;
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
      '{configPatches: [{applyTo: HTTP_FILTER, patch: {operation: INSERT_BEFORE, value: {name: x, typed_config: {"@type": type.googleapis.com/envoy.extensions.filters.http.cors.v3.Cors}}}}]}',
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
  {
    code: "connection-reuse",
    when: "two servers of a gateway share a certificate",
    text: of("Gateway", "g", `{servers: [${tlsServer("a.b", "c")}, ${tlsServer("c.b", "c", "t")}]}`),
  },
  {
    code: "connection-reuse",
    when: "the wildcard of one gateway is over the host of another",
    text: docs(
      of("Gateway", "g", `{servers: [${tlsServer("'*.b'", "c")}]}`),
      of("Gateway", "h", `{servers: [${tlsServer("a.b", "d")}]}`),
    ),
  },
  {
    code: "paths-only-redirected",
    when: "a VirtualService is bound to a port that redirects, and to no other",
    text: docs(
      of("Gateway", "g", `{servers: [${server("[a.b]", ", tls: {httpsRedirect: true}")}]}`),
      of("VirtualService", "a", `{hosts: [a.b], gateways: [g], ${route("host: a")}}`),
    ),
  },
  {
    code: "paths-only-redirected",
    when: "rules are for a port that redirects",
    text: docs(
      of("Gateway", "g", `{servers: [${server("[a.b]", ", tls: {httpsRedirect: true}")}, ${tlsServer("a.b", "c")}]}`),
      of(
        "VirtualService",
        "a",
        "{hosts: [a.b], gateways: [g], http: [{match: [{port: 80}], route: [{destination: {host: a}}]}, {route: [{destination: {host: a}}]}]}",
      ),
    ),
  },
  {
    code: "paths-only-redirected",
    when: "an Ingress is for a host that a Gateway redirects",
    text: docs(
      of(
        "Gateway",
        "g",
        `{selector: {istio: ingressgateway}, servers: [${server("[a.b]", ", tls: {httpsRedirect: true}")}]}`,
      ),
      object(
        "networking.k8s.io/v1",
        "Ingress",
        "name: i, namespace: default, annotations: {kubernetes.io/ingress.class: istio}",
        "spec: {rules: [{host: a.b, http: {paths: [{path: /x, pathType: Prefix, backend: {service: {name: a, port: {number: 80}}}}]}}]}",
      ),
    ),
  },
  {
    code: "prefix-rewrite-joined",
    when: "the root is replaced by a path without slash at its end",
    text: of("VirtualService", "a", `{hosts: [a], http: [{rewrite: {uri: /foo}, route: [{destination: {host: a}}]}]}`),
  },
  {
    code: "prefix-rewrite-joined",
    when: "an HTTPRoute puts a prefix in front of the root",
    text: object(
      "gateway.networking.k8s.io/v1",
      "HTTPRoute",
      "name: r, namespace: default",
      "spec: {rules: [{matches: [{path: {type: PathPrefix, value: /}}], filters: [{type: URLRewrite, urlRewrite: {path: {type: ReplacePrefixMatch, replacePrefixMatch: /foo/}}}]}]}",
    ),
  },
  {
    code: "rewrite-without-effect",
    when: "a prefix is replaced by itself",
    text: of(
      "VirtualService",
      "a",
      "{hosts: [a], http: [{match: [{uri: {prefix: /v1}}], rewrite: {uri: /v1}, route: [{destination: {host: a}}]}]}",
    ),
  },
  {
    code: "rewrite-without-effect",
    when: "the expression of a rewrite begins with another path than the match",
    text: of(
      "VirtualService",
      "a",
      "{hosts: [a], http: [{match: [{uri: {prefix: /v1/}}], rewrite: {uriRegexRewrite: {match: '^/api/(.*)', rewrite: '/\\\\1'}}, route: [{destination: {host: a}}]}]}",
    ),
  },
  {
    code: "service-hidden-by-sidecar",
    when: "a listener with a port leaves out a service of the namespace with this port",
    text: docs(
      service("a"),
      of(
        "Sidecar",
        "s",
        '{egress: [{port: {number: 80, protocol: HTTP, name: h}, hosts: [other/*]}, {hosts: ["./*"]}]}',
      ),
    ),
  },
  {
    code: "subset-not-in-reach",
    when: "the rule that defines a subset lies in a third namespace",
    text: docs(
      object("v1", "Namespace", "name: default, labels: {istio-injection: enabled}"),
      pod("p", "app: a, security.istio.io/tlsMode: istio"),
      object("v1", "Service", "name: b, namespace: far", "spec: {ports: [{name: http, port: 80}]}"),
      of("DestinationRule", "d", "{host: b.far.svc.cluster.local, subsets: [{name: v1}]}", "third"),
      of(
        "VirtualService",
        "v",
        `{hosts: [b.far.svc.cluster.local], ${route("host: b.far.svc.cluster.local, subset: v1")}}`,
        "third",
      ),
    ),
  },
  {
    code: "wildcard-host-hidden",
    when: "an exact host has no rule for the paths of a wildcard",
    text: docs(
      service("a"),
      ...[
        ["a.x.y", "/a"],
        ["'*.x.y'", "/b"],
      ].map(([host, path], index) =>
        of(
          "VirtualService",
          `v${index}`,
          `{hosts: [${host}], http: [{match: [{uri: {prefix: ${path}}}], route: [{destination: {host: a}}]}]}`,
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

  it.each([
    {
      code: "wildcard-host-hidden",
      when: "the exact host answers every path",
      text: docs(
        service("a"),
        of("VirtualService", "v", `{hosts: [a.x.y], ${route("host: a")}}`),
        of("VirtualService", "w", `{hosts: ["*.x.y"], ${route("host: a")}}`),
      ),
    },
    {
      code: "wildcard-host-hidden",
      when: "the two are at different gateways",
      text: docs(
        ...[
          ["a.x.y", "g"],
          ["'*.x.y'", "h"],
        ].map(([host, gateway], index) =>
          of(
            "VirtualService",
            `v${index}`,
            `{hosts: [${host}], gateways: [${gateway}], http: [{match: [{uri: {prefix: /${index}}}], route: [{destination: {host: a}}]}]}`,
          ),
        ),
      ),
    },
    {
      code: "paths-only-redirected",
      when: "the host is served by HTTPS as well",
      text: docs(
        of("Gateway", "g", `{servers: [${server("[a.b]", ", tls: {httpsRedirect: true}")}, ${tlsServer("a.b", "c")}]}`),
        of("VirtualService", "a", `{hosts: [a.b], gateways: [g], ${route("host: a")}}`),
      ),
    },
    {
      code: "prefix-rewrite-joined",
      when: "prefix and replacement end alike",
      text: of(
        "VirtualService",
        "a",
        "{hosts: [a], http: [{match: [{uri: {prefix: /a/}}], rewrite: {uri: /b/}, route: [{destination: {host: a}}]}, {match: [{uri: {prefix: /a}}], rewrite: {uri: /b}, route: [{destination: {host: a}}]}, {match: [{uri: {exact: /}}], rewrite: {uri: /b}, route: [{destination: {host: a}}]}]}",
      ),
    },
    {
      code: "service-hidden-by-sidecar",
      when: "the port of the service speaks TCP, for which addresses tell services apart",
      text: docs(
        service("a", "[{name: tcp, port: 80}]"),
        of(
          "Sidecar",
          "s",
          '{egress: [{port: {number: 80, protocol: HTTP, name: h}, hosts: [other/*]}, {hosts: ["./*"]}]}',
        ),
      ),
    },
    {
      code: "subset-not-in-reach",
      when: "the rule lies with the service",
      text: docs(
        object("v1", "Namespace", "name: default, labels: {istio-injection: enabled}"),
        pod("p", "app: a, security.istio.io/tlsMode: istio"),
        object("v1", "Service", "name: b, namespace: far", "spec: {ports: [{name: http, port: 80}]}"),
        of("DestinationRule", "d", "{host: b.far.svc.cluster.local, subsets: [{name: v1}]}", "far"),
        of(
          "VirtualService",
          "v",
          `{hosts: [b.far.svc.cluster.local], ${route("host: b.far.svc.cluster.local, subset: v1")}}`,
          "third",
        ),
      ),
    },
    {
      code: "connection-reuse",
      when: "each host has a certificate of its own, or TLS is passed through",
      text: of(
        "Gateway",
        "g",
        `{servers: [${tlsServer("a.b", "c")}, ${tlsServer("c.b", "d", "t")}, {port: {number: 443, name: u, protocol: TLS}, hosts: ["*.b"], tls: {mode: PASSTHROUGH}}]}`,
      ),
    },
  ])("says no $code when $when", ({ code, text }) => {
    expect(messages({ text }).filter((one) => one.code === code)).toEqual([]);
  });

  it("says of a service's ports what istioctl says, and nothing of those that a well-known number or an installer explains", () => {
    const ports =
      "[{name: db, port: 3306}, {name: mail, port: 25}, {name: mongo-x, port: 27017}, {name: odd, port: 9999}]";
    const status = "[{name: status-port, port: 15021}]";
    const labelled = (label: string) =>
      object("v1", "Service", `name: ${label[0]}, namespace: default, labels: {${label}}`, `spec: {ports: ${status}}`);
    const text = docs(
      service("a", "[{name: tcp-1234, port: 1234}]", ", type: ExternalName, externalName: x.y"),
      service("b", ports),
      labelled("istio: ingressgateway"),
      labelled("release: istio"),
      labelled("gateway.istio.io/managed: istio.io-gateway-controller"),
    );
    expect(messages({ text }).map(({ code, path }) => `${code} ${path.join(".")}`)).toEqual([
      "IST0118 spec.ports.3.name",
    ]);
  });

  it("says nothing of the user of istiod, nor of a gateway that is nothing but a proxy", () => {
    const deployment = (labels: string, container: string) =>
      object(
        "apps/v1",
        "Deployment",
        `name: d, namespace: default, labels: {${labels}}`,
        `spec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {securityContext: {runAsUser: 1337}, containers: [{name: ${container}}]}}}`,
      );
    const uids = (text: string) => messages({ text }).filter(({ code }) => code === "IST0144");
    expect(uids(deployment("istio: pilot", "discovery"))).toEqual([]);
    expect(uids(deployment("app: gateway", "istio-proxy"))).toEqual([]);
    expect(uids(deployment("app: shop", "app"))).toHaveLength(1);
  });

  it("takes no allocated address for granted, but what the mesh's settings or the entry's status say", () => {
    const entry = of(
      "ServiceEntry",
      "e",
      "{hosts: [a.b], resolution: DNS, ports: [{number: 9, name: t, protocol: TCP}]}",
    );
    const codes = (text: string, mesh = "") =>
      messages({ text, mesh }).map(({ code, path }) => `${code} ${path.join(".")}`);
    expect(codes(entry)).toContain("IST0134 spec.ports.0");
    const captured =
      'defaultConfig: {proxyMetadata: {ISTIO_META_DNS_CAPTURE: "true", ISTIO_META_DNS_AUTO_ALLOCATE: "true"}}';
    expect(codes(entry, captured)).not.toContain("IST0134 spec.ports.0");
    expect(codes(`${entry}\nstatus: {addresses: [{host: a.b, value: 240.240.0.1}]}`)).toEqual([]);
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

  it("says of an EnvoyFilter that its labels select nothing, where workloads or proxies are known", () => {
    const filter = (namespace: string) =>
      of("EnvoyFilter", "f", "{workloadSelector: {labels: {app: a}}, configPatches: []}", namespace);
    const told = (...texts: readonly string[]) =>
      messages({ text: docs(...texts) }).flatMap(({ code, path }) =>
        code === "envoy-filter-no-match" ? [path.join(".")] : [],
      );
    const inShop = pod("a-1", "app: a").replace("namespace: default", "namespace: shop");
    expect(told(filter("default"), pod("b-1", "app: b"))).toEqual(["spec.workloadSelector"]);
    expect(told(filter("istio-system"), pod("b-1", "app: b"))).toEqual(["spec.workloadSelector"]);
    expect(told(filter("default"), pod("b-1", "app: b"), inShop)).toEqual(["spec.workloadSelector"]);
    expect(told(filter("istio-system"), inShop)).toEqual([]);
    expect(told(filter("default"), inShop)).toEqual([]);
    const entry = of("WorkloadEntry", "e", "{address: 10.0.0.1, labels: {app: a}}");
    expect(told(filter("default"), pod("b-1", "app: b"), entry)).toEqual([]);
    const settings = "proxies: [{id: x, namespace: default, labels: {app: a}}]";
    const read = readFiles([
      { file: "a.yaml", text: docs(filter("default"), pod("b-1", "app: b")) },
      { file: "portolan.yaml", text: settings },
    ]);
    expect(analyze({ ...read, clusterIds: [] }).filter(({ code }) => code === "envoy-filter-no-match")).toEqual([]);
  });

  it("completes hosts of rules, and none of a ServiceEntry, as the compile does", () => {
    const entry = of(
      "ServiceEntry",
      "e",
      "{hosts: [one], resolution: STATIC, ports: [{number: 80, name: http, protocol: HTTP}]}",
    );
    const rule = of("DestinationRule", "d", "{host: one}");
    const codes = (...texts: readonly string[]) => messages({ text: docs(...texts) }).map(({ code }) => code);
    const toOne = of("VirtualService", "v", `{hosts: [a.b], ${route("host: one")}}`);
    expect([codes(entry, rule), codes(entry, toOne)]).toEqual([["IST0174"], ["IST0101"]]);
    const whole = entry.replace("[one]", "[one.default.svc.cluster.local]");
    expect([codes(whole, rule), codes(whole, toOne)]).toEqual([[], []]);
  });

  it("says how a redirected prefix is joined to what follows it", () => {
    const redirect = (prefix: string, to: string) =>
      messages({
        text: object(
          "gateway.networking.k8s.io/v1",
          "HTTPRoute",
          "name: r, namespace: default",
          `spec: {rules: [{matches: [{path: {type: PathPrefix, value: ${prefix}}}], filters: [{type: RequestRedirect, requestRedirect: {path: {type: ReplacePrefixMatch, replacePrefixMatch: ${to}}}}]}]}`,
        ),
      }).flatMap(({ code, message }) => (code === "prefix-rewrite-joined" ? [message.split(":")[0]] : []));
    expect(redirect("/moved", "/")).toEqual(["a request for /moved/test is redirected to //test"]);
    expect(redirect("/moved/", "/new/")).toEqual(["a request for /moved/test is redirected to /new//test"]);
    expect(redirect("/", "/foo")).toEqual(["a request for /test is sent on as /footest"]);
    expect([redirect("/", "/foo/"), redirect("/moved", "/new")]).toEqual([[], []]);
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

  it("runs the analysers that are named, and refuses names of none with those that there are", () => {
    const text = docs(of("DestinationRule", "d", "{host: nowhere}"), object("v1", "Namespace", "name: n"));
    expect(messages({ text }, { only: ["injection.Analyzer"] }).map(({ code }) => code)).toEqual(["IST0102"]);
    expect(() => messages({ text }, { only: ["nothing"] })).toThrow(
      /no analyser "nothing"; use one of .*injection\.Analyzer/,
    );
    expect(new Set(analyzers.map(({ name }) => name)).size).toBe(analyzers.length);
  });

  it("reports a document that cannot be read", () => {
    expect(messages({ text: "a: [" }).map(({ code }) => code)).toEqual(["IST0106"]);
  });
});
