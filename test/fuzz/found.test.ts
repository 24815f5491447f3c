import { describe, expect, it } from "vitest";
import { findingsOf } from "./judge.ts";
import type { Manifest } from "./objects/vocabulary.ts";

const pod: Manifest = {
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "b-0", namespace: "ns1", labels: { app: "b", "security.istio.io/tlsMode": "istio" } },
  status: { phase: "Running", podIP: "10.1.1.1", conditions: [{ type: "Ready", status: "True" }] },
};

/** The smallest worlds that once broke a law, by what has to hold in them. */
const found: readonly { readonly rule: string; readonly manifests: readonly Manifest[] }[] = [
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
    manifests: [
      pod,
      {
        apiVersion: "networking.istio.io/v1",
        kind: "ServiceEntry",
        metadata: { name: "outside", namespace: "ns1" },
        spec: {
          hosts: ["*.example.com"],
          ports: [{ number: 3306, name: "tls", protocol: "TLS" }],
          resolution: "DYNAMIC_DNS",
        },
      },
      {
        apiVersion: "security.istio.io/v1",
        kind: "AuthorizationPolicy",
        metadata: { name: "deny", namespace: "ns1" },
        spec: { selector: { matchLabels: { app: "b" } }, action: "DENY", rules: [{}] },
      },
    ],
  },
  {
    rule: "checks no names of clients that show no certificate",
    manifests: [
      { ...pod, metadata: { ...pod.metadata, labels: { istio: "gateway", "security.istio.io/tlsMode": "istio" } } },
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
        apiVersion: "networking.istio.io/v1",
        kind: "ServiceEntry",
        metadata: { name: "second", namespace: "ns1", creationTimestamp: "2026-01-02T00:00:00Z" },
        spec: {
          hosts: ["*.example.com"],
          ports: [{ number: 3306, name: "tls", protocol: "TLS" }],
          resolution: "DYNAMIC_DNS",
        },
      },
      {
        apiVersion: "security.istio.io/v1",
        kind: "AuthorizationPolicy",
        metadata: { name: "deny", namespace: "ns1" },
        spec: { selector: { matchLabels: { app: "b" } }, action: "DENY", rules: [{}] },
      },
    ],
  },
];

describe("a world that fuzzing found", () => {
  it.each(found)("$rule", ({ manifests }) => {
    expect(findingsOf({ seed: 1, manifests, meshConfig: undefined, proxies: [], refused: {} })).toEqual([]);
  });
});
