import { describe, expect, it } from "vitest";
import { defaultWorldOptions, type WorldOptions } from "../../lib/compile/world/world-of.ts";
import { findingsAfter } from "./edits/shrink.ts";
import type { Manifest } from "./objects/vocabulary.ts";

/** Two folders, of which a compiler that knew the first answered the second with something old. */
interface WarmCase {
  /** What has to hold. */
  readonly rule: string;
  readonly options?: Partial<WorldOptions>;
  /** Objects of both folders. */
  readonly both: readonly Manifest[];
  readonly before: readonly Manifest[];
  readonly after: readonly Manifest[];
}

const pod = (name: string, namespace: string, podIP: string, labels: object): Manifest => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name, namespace, labels: { "security.istio.io/tlsMode": "istio", ...labels } },
  status: { phase: "Running", podIP, conditions: [{ type: "Ready", status: "True" }] },
});

const service = (name: string, metadata: object, spec: object = {}): Manifest => ({
  apiVersion: "v1",
  kind: "Service",
  metadata: { name, namespace: "ns1", ...metadata },
  spec: { clusterIP: "10.0.0.1", ports: [{ name: "http", port: 80, targetPort: 8080 }], ...spec },
});

const web = { app: "web" };
const deployment = (name: string, labels: object): Manifest => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name, namespace: "ns1" },
  spec: {
    selector: { matchLabels: labels },
    template: { metadata: { labels }, spec: { containers: [{ name: "app" }] } },
  },
});
const gateway = { istio: "gateway" };
const edge = (labels: object): Manifest => service("edge", { labels }, { selector: gateway });

const found: readonly WarmCase[] = [
  {
    rule: "a Sidecar that means each pod's own address makes a class of each pod",
    both: [
      service("web", {}, { selector: web }),
      pod("web-0", "ns1", "10.1.0.1", web),
      pod("web-1", "ns1", "10.1.0.2", web),
    ],
    before: [],
    after: [
      {
        apiVersion: "networking.istio.io/v1",
        kind: "Sidecar",
        metadata: { name: "web", namespace: "ns1" },
        spec: {
          workloadSelector: { labels: web },
          ingress: [{ port: { number: 8080, name: "http", protocol: "HTTP" }, defaultEndpoint: "0.0.0.0:8080" }],
          egress: [{ hosts: ["./*"] }],
        },
      },
    ],
  },
  {
    rule: "what stands for a template follows its labels, and gives way to its pods",
    both: [
      service("web", {}, { selector: web }),
      service("other", {}, { selector: { app: "other" } }),
      deployment("a", { app: "other" }),
    ],
    before: [deployment("b", web)],
    after: [deployment("b", { app: "other" }), pod("a-1", "ns1", "10.1.0.1", { app: "other" })],
  },
  {
    rule: "a gateway's ports follow the label of its service that says not to translate them",
    both: [
      pod("edge-0", "ns1", "10.1.0.1", gateway),
      {
        apiVersion: "networking.istio.io/v1",
        kind: "Gateway",
        metadata: { name: "gw", namespace: "ns1" },
        spec: { selector: gateway, servers: [{ port: { number: 80, name: "http", protocol: "HTTP" }, hosts: ["*"] }] },
      },
    ],
    before: [edge({})],
    after: [edge({ "experimental.istio.io/disable-gateway-port-translation": "true" })],
  },
  {
    rule: "a class has the id that its rules give it, whatever order its services had before",
    both: [
      pod("client-0", "ns1", "10.1.0.1", {}),
      service("late", {}),
      {
        apiVersion: "networking.istio.io/v1",
        kind: "DestinationRule",
        metadata: { name: "all", namespace: "ns1" },
        spec: { host: "*" },
      },
    ],
    before: [service("early", {})],
    after: [service("early", { creationTimestamp: "2026-01-01T00:00:00Z" })],
  },
];

describe("a warm compiler", () => {
  it.each(found)("answers as a fresh one: $rule", ({ options, both, before, after }) => {
    const folder = (manifests: readonly Manifest[]) => ({
      meshConfig: undefined,
      networks: undefined,
      objects: [...both, ...manifests].map((manifest) => ({ file: "objects.yaml", manifest })),
    });
    const history = { options: { ...defaultWorldOptions, ...options }, folders: [folder(before), folder(after)] };
    expect(findingsAfter(history)).toEqual([]);
  });
});
