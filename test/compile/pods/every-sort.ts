import type { SourceFile } from "../../../lib/config/folder/directory.ts";
import { bare, filesOf, networking, podText } from "./manifests.ts";

const settings = `
  tracing:
    sampling: 12.5
    customTags: {zone: {literal: {value: a}}, agent: {header: {name: user-agent}}}
    datadog: {address: "$(HOST_IP):8126"}
  proxyHeaders: {server: {value: own}, attemptCount: {disabled: true}}`;

/** Pods of all sorts and a machine, and objects that read everything of a node that can be read. */
const objects = [
  podText("injected-sidecar"),
  podText("native-sidecar"),
  podText("gateway"),
  bare("web-0", { "proxy.istio.io/config": settings, "resource.opentelemetry.io/service.name": "shop-web" }),
  networking("WorkloadEntry", "vm-1", { address: "10.2.0.1", serviceAccount: "vm", locality: "eu/eu-1" }),
  networking("EnvoyFilter", "f", {
    configPatches: [
      {
        applyTo: "HTTP_FILTER",
        match: {
          proxy: { proxyVersion: "^1\\.30", metadata: { OWNER: "o", WORKLOAD_NAME: "w", IDLE_TIMEOUT: "30s" } },
        },
        patch: { operation: "REMOVE" },
      },
    ],
  }),
  networking("Sidecar", "s", { workloadSelector: { labels: { app: "cart" } }, egress: [{ hosts: ["./*"] }] }),
];
const mesh = `
extensionProviders:
- {name: otel, opentelemetry: {service: otel.shop.svc.cluster.local, port: 4317, serviceAttributeEnrichment: OTEL_SEMANTIC_CONVENTIONS}}
defaultProviders: {tracing: [otel]}`;

export const everySort: readonly SourceFile[] = filesOf(objects, mesh);
