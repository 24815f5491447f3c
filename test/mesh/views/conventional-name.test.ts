import { describe, expect, it } from "vitest";
import { createMemo, noMemo } from "../../../lib/incremental/memo.ts";
import { buildMesh } from "../../../lib/mesh/build-mesh.ts";
import { classify } from "../../../lib/mesh/classes/classify.ts";
import { conventionalName } from "../../../lib/mesh/views/conventional-name.ts";
import { ProxyAnswers } from "../../../lib/mesh/views/proxies/proxy-answers.ts";
import type { World } from "../../../lib/mesh/world.ts";
import { sidecar, world } from "../parts.ts";

type Named = ReturnType<typeof sidecar>;

const meshConfig = {
  defaultProviders: { tracing: ["t"] },
  extensionProviders: [
    {
      name: "t",
      opentelemetry: { service: "o", port: 1, serviceAttributeEnrichment: "OTEL_SEMANTIC_CONVENTIONS" },
    },
  ],
} as const;

function meshOf(proxies: readonly Named[], compat: World["compat"]) {
  const of = world({ proxies, compat, meshConfig });
  return { mesh: buildMesh(of, createMemo()).value, proxies: of.proxies };
}

describe("the name of a service by OpenTelemetry's conventions", () => {
  const instance = { "app.kubernetes.io/instance": "instance", "app.kubernetes.io/name": "name" };
  const annotated = { metadata: { ANNOTATIONS: { "resource.opentelemetry.io/service.name": "annotated" } } };

  it.each([
    { why: "an annotation", proxy: sidecar("pod.ns", instance, annotated), want: "annotated" },
    { why: "the instance", proxy: sidecar("pod.ns", instance), want: "instance" },
    { why: "the application", proxy: sidecar("pod.ns", { "app.kubernetes.io/name": "name" }), want: "name" },
    {
      why: "the workload",
      proxy: sidecar("pod.ns", {}, { metadata: { WORKLOAD_NAME: "workload" } }),
      want: "workload",
    },
    { why: "the pod", proxy: sidecar("pod.ns"), want: "pod" },
  ])("is that of $why, if nothing before names it", ({ proxy, want }) => {
    const { mesh, proxies } = meshOf([proxy], "istio");
    expect(proxies.map((one) => conventionalName(mesh, new ProxyAnswers(one, () => [], noMemo)))).toEqual([want]);
  });

  it("tells workloads apart, and pods in Istio's form only", () => {
    const workload = (id: string, name: string) => sidecar(id, {}, { metadata: { WORKLOAD_NAME: name } });
    const classes = (named: readonly Named[], compat: World["compat"]): number => {
      const { mesh, proxies } = meshOf(named, compat);
      return new Set(classify(mesh, proxies, createMemo()).value.nodes.map(({ classId }) => classId)).size;
    };
    const canonical = { "service.istio.io/canonical-name": "c" };
    expect(classes([workload("p.ns", "x"), workload("q.ns", "y")], "shared")).toBe(2);
    expect(classes([workload("p.ns", "x"), workload("q.ns", "x")], "istio")).toBe(1);
    expect(classes([sidecar("p.ns", canonical), sidecar("q.ns", canonical)], "shared")).toBe(1);
    expect(classes([sidecar("p.ns", canonical), sidecar("q.ns", canonical)], "istio")).toBe(2);
  });
});
