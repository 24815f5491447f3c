import { describe, expect, it } from "vitest";
import type { Config } from "../../../lib/config/config.ts";
import type { DestinationRule } from "../../../lib/config/kinds/destination-rule.ts";
import { noMemo } from "../../../lib/incremental/memo.ts";
import { destinationRuleFor, indexDestinationRules } from "../../../lib/mesh/index/destination-rule-index.ts";
import { config } from "../parts.ts";

const root = "istio-system";
const host = "s.ns1.svc.cluster.local";
const of = (key: string, spec: Partial<DestinationRule> = {}, age = 0): Config<DestinationRule> =>
  config("DestinationRule", key, { host, ...spec }, age);

const inputs = (configs: readonly Config<DestinationRule>[], fillsFromPolicies = true) => ({
  configs,
  exportDefault: ["*"],
  rootNamespace: root,
  fillsFromPolicies,
});

describe("a rule and a policy of the Gateway API for one host", () => {
  const tls = { trafficPolicy: { tls: { mode: "SIMPLE" as const } } };
  const balanced = { trafficPolicy: { loadBalancer: { simple: "RANDOM" as const } } };
  /** As old as nothing that somebody wrote. */
  const made = { ...of("ns1/policy", tls, 99), madeFrom: { spec: ["spec"] } };

  it.each([
    { fills: true, want: { ...tls.trafficPolicy, ...balanced.trafficPolicy } },
    { fills: false, want: tls.trafficPolicy },
  ])("are one policy, filled: $fills", ({ fills, want }) => {
    const index = indexDestinationRules(inputs([of("ns1/rule", balanced), made], fills), noMemo);
    expect(index.value.lookup("ns2", host, "ns1")[0]?.config.spec.trafficPolicy).toEqual(want);
    expect(index.diagnostics.map(({ code }) => code)).toEqual(fills ? [] : ["duplicate-traffic-policy"]);
  });
});

function lookup(rules: readonly Config<DestinationRule>[], client: string) {
  return indexDestinationRules(inputs(rules), noMemo).value.lookup(client, host, "ns1");
}

const chosen = (
  rules: readonly Config<DestinationRule>[],
  client: string,
  labels = {},
  direction: "outbound" | "inbound" = "outbound",
) => destinationRuleFor(lookup(rules, client), direction, client, labels)?.config.meta.name;

const exact = of("ns1/exact");
const wide = "*.ns1.svc.cluster.local";

describe("the rule for a service of ns1", () => {
  it.each([
    { why: "is the client's own first", rules: [of("ns2/own"), exact], client: "ns2", want: "own" },
    { why: "is the service's otherwise", rules: [of("ns2/own"), exact], client: "ns3", want: "exact" },
    {
      why: "is the client's own even if less specific",
      rules: [of("ns2/own", { host: wide }), exact],
      client: "ns2",
      want: "own",
    },
    {
      why: "is the root's when the service keeps its own private",
      rules: [of("ns1/exact", { exportTo: ["."] }), of(`${root}/all`, { host: "*.local" })],
      client: "ns3",
      want: "all",
    },
    {
      why: "is private to the service's namespace there",
      rules: [of("ns1/exact", { exportTo: ["."] }), of(`${root}/all`, { host: "*.local" })],
      client: "ns1",
      want: "exact",
    },
    {
      why: "is no less specific one of the same namespace when the most specific is not exported",
      rules: [of("ns1/exact", { exportTo: ["ns2"] }), of("ns1/wide", { host: wide })],
      client: "ns3",
      want: undefined,
    },
    {
      why: "is the service's before a public one of the root",
      rules: [of(`${root}/all`, { host: "*.local" }), exact],
      client: root,
      want: "exact",
    },
    {
      why: "is a private one of the root for its own clients",
      rules: [of(`${root}/all`, { host: "*.local", exportTo: ["."] }), exact],
      client: root,
      want: "all",
    },
    {
      why: "is none of the own namespace that is exported elsewhere only",
      rules: [of("ns2/out", { exportTo: ["ns3"] }), exact],
      client: "ns2",
      want: "exact",
    },
  ])("$why", ({ rules, client, want }) => {
    expect(chosen(rules, client)).toBe(want);
  });
});

describe("a rule with a workload selector", () => {
  const selecting = of("ns1/gold", { workloadSelector: { matchLabels: { app: "x" } } });

  it.each([
    {
      why: "applies to the workloads it selects",
      client: "ns1",
      labels: { app: "x" },
      direction: "outbound" as const,
      want: "gold",
    },
    {
      why: "does not apply to others",
      client: "ns1",
      labels: { app: "y" },
      direction: "outbound" as const,
      want: "exact",
    },
    {
      why: "does not apply inbound",
      client: "ns1",
      labels: { app: "x" },
      direction: "inbound" as const,
      want: "exact",
    },
    { why: "is never exported", client: "ns2", labels: { app: "x" }, direction: "outbound" as const, want: "exact" },
  ])("$why", ({ client, labels, direction, want }) => {
    expect(chosen([exact, selecting], client, labels, direction)).toBe(want);
  });

  it("swallows a rule without selector that is exported to `.` alone", () => {
    const found = lookup([selecting, of("ns1/plain", { exportTo: ["."] })], "ns1");
    expect(found.map((rule) => rule.from.map((key) => key.name))).toEqual([["gold", "plain"]]);
  });
});

describe("two rules for one host", () => {
  const policy = (maxConnections: number) => ({ trafficPolicy: { connectionPool: { tcp: { maxConnections } } } });
  const older = of("ns1/d1", { subsets: [{ name: "v1", labels: { v: "1" } }] }, 2);
  const younger = of("ns1/d2", { subsets: [{ name: "v1", labels: { v: "x" } }, { name: "v2" }], ...policy(7) }, 1);

  it("are one with all subsets, the older of each name, and the first policy", () => {
    const index = indexDestinationRules(inputs([younger, older]), noMemo);
    const [merged, ...others] = index.value.lookup("ns1", host, "ns1");
    expect(others).toEqual([]);
    expect(merged?.config.meta.name).toBe("d1");
    expect(merged?.config.spec.subsets).toEqual([{ name: "v1", labels: { v: "1" } }, { name: "v2" }]);
    expect(merged?.config.spec.trafficPolicy).toEqual(policy(7).trafficPolicy);
    expect(merged?.from.map((key) => key.name)).toEqual(["d1", "d2"]);
    expect(index.diagnostics.map(({ code, origin, path }) => [code, origin.key.name, path.at(-1)])).toEqual([
      ["duplicate-subset", "d2", 0],
    ]);
  });

  it("keep the older policy and report the other", () => {
    const index = indexDestinationRules(inputs([of("ns1/d1", policy(1), 2), of("ns1/d2", policy(2), 1)]), noMemo);
    expect(index.value.lookup("ns1", host, "ns1")[0]?.config.spec.trafficPolicy).toEqual(policy(1).trafficPolicy);
    expect(index.diagnostics.map(({ code }) => code)).toEqual(["duplicate-traffic-policy"]);
  });

  it("stay two where their exports differ", () => {
    const found = lookup([of("ns1/d1", {}, 2), of("ns1/d2", { exportTo: ["ns1", "ns2"] }, 1)], "ns1");
    expect(found.map((rule) => rule.config.meta.name)).toEqual(["d1", "d2"]);
  });

  it("are merged and kept apart where the younger is exported wider", () => {
    const narrow = of("ns1/d1", { exportTo: ["ns1"], subsets: [{ name: "v1" }] }, 2);
    const wider = of("ns1/d2", { exportTo: ["ns1", "ns2"], subsets: [{ name: "v2" }] }, 1);
    const found = lookup([narrow, wider], "ns1").map((rule) => rule.config.spec.subsets?.map(({ name }) => name));
    // Both have no selector, so the wider one is not appended: it is part of the narrow one only.
    expect(found).toEqual([["v1", "v2"]]);
  });
});
