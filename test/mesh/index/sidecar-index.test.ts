import { describe, expect, it } from "vitest";
import type { Config } from "../../../lib/config/config.ts";
import type { Sidecar } from "../../../lib/config/kinds/sidecar.ts";
import { indexSidecars } from "../../../lib/mesh/index/sidecar-index.ts";
import { config } from "../parts.ts";

const of = (key: string, labels?: Record<string, string>): Config<Sidecar> =>
  config("Sidecar", key, labels === undefined ? {} : { workloadSelector: { labels } });

const chosen = (sidecars: readonly Config<Sidecar>[], namespace: string, labels: Record<string, string>) =>
  indexSidecars(sidecars, "istio-system").value.sidecarFor(namespace, labels)?.meta.name;

describe("the Sidecar of a workload", () => {
  it.each([
    {
      why: "prefers one with a selector",
      sidecars: [of("ns1/s1"), of("ns1/s2", { app: "x" })],
      labels: { app: "x" },
      want: "s2",
    },
    { why: "is the older of two without selector", sidecars: [of("ns1/s1"), of("ns1/s2")], labels: {}, want: "s1" },
    {
      why: "is the older of two that select it",
      sidecars: [of("ns1/s1", { app: "x" }), of("ns1/s2", { v: "1" })],
      labels: { app: "x", v: "1" },
      want: "s1",
    },
    {
      why: "comes from the root namespace when none of its own selects it",
      sidecars: [of("ns1/s1", { app: "y" }), of("istio-system/r1")],
      labels: { app: "x" },
      want: "r1",
    },
    {
      why: "is none when the root's has a selector",
      sidecars: [of("istio-system/r1", { app: "x" })],
      labels: { app: "x" },
      want: undefined,
    },
    { why: "may have an empty selector", sidecars: [of("ns1/s1"), of("ns1/s2", {})], labels: {}, want: "s2" },
  ])("$why", ({ sidecars, labels, want }) => {
    expect(chosen(sidecars, "ns1", labels)).toBe(want);
  });

  it("may select workloads of the root namespace itself", () => {
    expect(chosen([of("istio-system/r1", { app: "x" })], "istio-system", { app: "x" })).toBe("r1");
  });
});

it("reports a Sidecar without selector behind an older one", () => {
  const { diagnostics } = indexSidecars([of("ns1/s1"), of("ns1/s2"), of("ns2/s3")], "istio-system");
  expect(diagnostics.map(({ code, origin }) => [code, origin.key.name])).toEqual([["sidecar-shadowed", "s2"]]);
});
