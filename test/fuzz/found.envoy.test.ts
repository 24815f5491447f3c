import { describe, expect, it } from "vitest";
import { findingsOf } from "./judge.ts";
import type { Manifest } from "./objects/vocabulary.ts";

const pod: Manifest = {
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "b-0", namespace: "ns1", labels: { app: "b", "security.istio.io/tlsMode": "istio" } },
  status: { phase: "Running", podIP: "10.1.1.1", conditions: [{ type: "Ready", status: "True" }] },
};

interface Found {
  readonly rule: string;
  readonly manifests: readonly Manifest[];
  readonly meshConfig?: object;
}

const gatewayPod: Manifest = {
  ...pod,
  metadata: { ...pod.metadata, labels: { istio: "gateway", "security.istio.io/tlsMode": "istio" } },
};

const service: Manifest = {
  apiVersion: "v1",
  kind: "Service",
  metadata: { name: "b", namespace: "ns1" },
  spec: { clusterIP: "10.0.0.1", selector: { app: "b" }, ports: [{ name: "http", port: 80 }] },
};

/** Hosts that are resolved when they are asked for. */
const runTimeEntry: Manifest = {
  apiVersion: "networking.istio.io/v1",
  kind: "ServiceEntry",
  metadata: { name: "outside", namespace: "ns1" },
  spec: {
    hosts: ["*.example.com"],
    ports: [{ number: 3306, name: "tls", protocol: "TLS" }],
    resolution: "DYNAMIC_DNS",
  },
};

const denyPolicy: Manifest = {
  apiVersion: "security.istio.io/v1",
  kind: "AuthorizationPolicy",
  metadata: { name: "deny", namespace: "ns1" },
  spec: { selector: { matchLabels: { app: "b" } }, action: "DENY", rules: [{}] },
};

/** The smallest worlds that once broke a law, by what has to hold in them. */
const found: readonly Found[] = [
  {
    rule: "names the objects behind a message for each class apart, though classes share it",
    manifests: [
      pod,
      {
        apiVersion: "telemetry.istio.io/v1",
        kind: "Telemetry",
        metadata: { name: "no-effect", namespace: "ns1" },
        spec: { selector: { matchLabels: { app: "b" } } },
      },
    ],
  },
  {
    rule: "has a cluster for a UDP port that inbound chains lead to",
    manifests: [
      pod,
      {
        apiVersion: "v1",
        kind: "Service",
        metadata: { name: "b", namespace: "ns1" },
        spec: { clusterIP: "10.0.0.1", selector: { app: "b" }, ports: [{ name: "dns", port: 53, protocol: "UDP" }] },
      },
    ],
  },
  {
    rule: "tells sidecars apart whose own policies stand before a host that is resolved at run time",
    manifests: [pod, runTimeEntry, denyPolicy],
  },
  {
    rule: "checks no names of clients that show no certificate",
    manifests: [
      gatewayPod,
      {
        apiVersion: "networking.istio.io/v1",
        kind: "Gateway",
        metadata: { name: "gw", namespace: "ns1" },
        spec: {
          selector: { istio: "gateway" },
          servers: [
            {
              port: { number: 443, name: "https", protocol: "HTTPS" },
              hosts: ["*"],
              tls: { mode: "SIMPLE", credentialName: "web", subjectAltNames: ["client.example.com"] },
            },
          ],
        },
      },
    ],
  },
  {
    rule: "tells such sidecars apart where another service has the same host, too",
    manifests: [
      pod,
      {
        apiVersion: "networking.istio.io/v1",
        kind: "ServiceEntry",
        metadata: { name: "first", namespace: "ns1", creationTimestamp: "2026-01-01T00:00:00Z" },
        spec: {
          hosts: ["*.example.com"],
          ports: [{ number: 8080, name: "http", protocol: "HTTP" }],
          resolution: "NONE",
        },
      },
      {
        ...runTimeEntry,
        metadata: { name: "second", namespace: "ns1", creationTimestamp: "2026-01-02T00:00:00Z" },
      },
      denyPolicy,
    ],
  },
  {
    rule: "leads on nothing that has a wildcard for a name",
    manifests: [
      gatewayPod,
      {
        apiVersion: "networking.istio.io/v1",
        kind: "ServiceEntry",
        metadata: { name: "wild", namespace: "ns1" },
        spec: {
          hosts: ["*.example.com"],
          ports: [{ number: 443, name: "tls", protocol: "TLS" }],
          location: "MESH_INTERNAL",
          resolution: "STATIC",
          endpoints: [{ address: "172.16.0.1" }],
        },
      },
      {
        apiVersion: "networking.istio.io/v1",
        kind: "Gateway",
        metadata: { name: "gw", namespace: "ns1" },
        spec: {
          selector: { istio: "gateway" },
          servers: [
            { port: { number: 15443, name: "tls", protocol: "TLS" }, hosts: ["*"], tls: { mode: "AUTO_PASSTHROUGH" } },
          ],
        },
      },
    ],
  },
  {
    rule: "names a Gateway once that has several servers for one table",
    manifests: [
      gatewayPod,
      service,
      {
        apiVersion: "networking.istio.io/v1",
        kind: "Gateway",
        metadata: { name: "gw", namespace: "ns1" },
        spec: {
          selector: { istio: "gateway" },
          servers: ["www.example.com", "api.example.com"].map((host, index) => ({
            port: { number: 80, name: `http-${index}`, protocol: "HTTP" },
            hosts: [host],
          })),
        },
      },
      {
        apiVersion: "networking.istio.io/v1",
        kind: "VirtualService",
        metadata: { name: "both", namespace: "ns1" },
        spec: {
          hosts: ["www.example.com", "api.example.com"],
          gateways: ["gw"],
          http: [{ route: [{ destination: { host: "b" } }] }],
        },
      },
    ],
  },
  {
    rule: "has tags from format strings",
    manifests: [
      pod,
      service,
      {
        apiVersion: "telemetry.istio.io/v1",
        kind: "Telemetry",
        metadata: { name: "tags", namespace: "ns1" },
        spec: {
          tracing: [
            { providers: [{ name: "tracer" }], customTags: { four: { formatter: { value: "%REQ(x-one)%" } } } },
          ],
        },
      },
    ],
    meshConfig: { extensionProviders: [{ name: "tracer", zipkin: { service: "b.ns1.svc.cluster.local", port: 80 } }] },
  },
  {
    rule: "has a time limit for spans that go by HTTP, though nobody says one",
    manifests: [
      pod,
      service,
      {
        apiVersion: "telemetry.istio.io/v1",
        kind: "Telemetry",
        metadata: { name: "spans", namespace: "ns1" },
        spec: { tracing: [{ providers: [{ name: "tracer" }] }] },
      },
    ],
    meshConfig: {
      extensionProviders: [
        {
          name: "tracer",
          opentelemetry: { service: "b.ns1.svc.cluster.local", port: 80, http: { path: "/v1/traces" } },
        },
      ],
    },
  },
  {
    rule: "does not trace by a cluster that is not there",
    manifests: [pod, service],
    meshConfig: {
      defaultProviders: { tracing: ["tracer"] },
      extensionProviders: [{ name: "tracer", zipkin: { service: "b.ns1.svc.cluster.local", port: 9411 } }],
    },
  },
  {
    rule: "has no route table or listener that Envoy refuses for one patch of it",
    manifests: [
      pod,
      service,
      {
        apiVersion: "networking.istio.io/v1alpha3",
        kind: "EnvoyFilter",
        metadata: { name: "clashes", namespace: "ns1" },
        spec: {
          configPatches: [
            ...[["*"], ["B.ns1"], ["new.example.com", "NEW.example.com"]].map((domains, index) => ({
              applyTo: "VIRTUAL_HOST",
              match: { context: "SIDECAR_OUTBOUND" },
              patch: { operation: "ADD", value: { name: `host-${index}`, domains } },
            })),
            {
              applyTo: "HTTP_FILTER",
              match: { context: "ANY" },
              patch: {
                operation: "ADD",
                value: {
                  name: "late",
                  typed_config: { "@type": "type.googleapis.com/envoy.extensions.filters.http.fault.v3.HTTPFault" },
                },
              },
            },
            {
              applyTo: "FILTER_CHAIN",
              match: { context: "SIDECAR_OUTBOUND", listener: { name: "0.0.0.0_80" } },
              patch: {
                operation: "ADD",
                value: {
                  filters: [
                    {
                      name: "echo",
                      typed_config: { "@type": "type.googleapis.com/envoy.extensions.filters.network.echo.v3.Echo" },
                    },
                  ],
                  filter_chain_match: { transport_protocol: "raw_buffer", application_protocols: ["http/1.1"] },
                },
              },
            },
          ],
        },
      },
    ],
  },
];

describe("a world that fuzzing found", () => {
  it.each(found)("$rule", ({ manifests, meshConfig }) => {
    expect(findingsOf({ seed: 1, manifests, meshConfig, proxies: [], refused: {} })).toEqual([]);
  });
});
