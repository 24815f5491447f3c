import { describe, expect, it } from "vitest";
import type { Config } from "../../../lib/config/config.ts";
import type { EnvoyFilter, ProxyMatch } from "../../../lib/config/kinds/envoy-filter.ts";
import type { PolicyTarget } from "../../../lib/config/kinds/selector.ts";
import { indexEnvoyFilters } from "../../../lib/mesh/index/envoy-filter-index.ts";
import { attaches } from "../../../lib/mesh/index/policy-attachment.ts";
import { indexPolicies } from "../../../lib/mesh/index/workload-policies.ts";
import { config } from "../parts.ts";

const root = "istio-system";
const app = (name: string) => ({ matchLabels: { app: name } });
const none = { authorization: [], requestAuthentication: [], telemetry: [], wasmPlugins: [], trafficExtensions: [] };
const workload = { namespace: "ns1", labels: { app: "x" }, rootNamespace: root };
const names = (configs: readonly Config[]) => configs.map(({ meta }) => meta.name);

describe("policies of workload app=x in ns1", () => {
  const policies = [
    config("P", "ns1/own", {}, 9),
    config("P", "ns1/selecting", { selector: app("x") }, 8),
    config("P", "ns1/other", { selector: app("y") }, 7),
    config("P", `${root}/mesh`, {}, 6),
    config("P", `${root}/mesh-selecting`, { selector: app("x") }, 5),
    config("P", "ns2/elsewhere", {}, 4),
  ];

  it("are the root namespace's first for authorization, last for request authentication", () => {
    const found = indexPolicies({ ...none, authorization: policies, requestAuthentication: policies }).value(workload);
    expect(names(found.authorization)).toEqual(["mesh", "mesh-selecting", "own", "selecting"]);
    expect(names(found.requestAuthentication)).toEqual(["own", "selecting", "mesh", "mesh-selecting"]);
  });

  it("come once in the root namespace itself", () => {
    const found = indexPolicies({ ...none, authorization: policies }).value({ ...workload, namespace: root });
    expect(names(found.authorization)).toEqual(["mesh", "mesh-selecting"]);
  });

  it("are for Telemetry the oldest of each level, and those that select the workload in its own namespace", () => {
    const telemetry = [...policies, config("P", "ns1/second", {}, 1)];
    const { value, diagnostics } = indexPolicies({ ...none, telemetry });
    expect(names(value(workload).telemetry)).toEqual(["mesh", "own", "selecting"]);
    expect(diagnostics.map(({ code, origin }) => `${code} ${origin.key.name}`)).toEqual(["telemetry-shadowed second"]);
  });

  it("are for extensions those of highest priority first, without priority last", () => {
    const plugin = (key: string, priority?: number) =>
      config("WasmPlugin", key, { url: "file:///p", ...(priority === undefined ? {} : { priority }) });
    const wasmPlugins = [plugin("ns1/low", 1), plugin("ns1/unset"), plugin(`${root}/high`, 9)];
    expect(names(indexPolicies({ ...none, wasmPlugins }).value(workload).wasmPlugins)).toEqual([
      "high",
      "low",
      "unset",
    ]);
  });
});

describe("a policy with a target reference", () => {
  const target: PolicyTarget = { targetRef: { group: "gateway.networking.k8s.io", kind: "Gateway", name: "g" } };
  const labels = { "gateway.networking.k8s.io/gateway-name": "g" };
  const attached = (namespace: string, of: Record<string, string>) =>
    attaches(config("P", `${namespace}/p`, target), () => undefined, { ...workload, labels: of });

  it("attaches to the workload of that Gateway in its own namespace only", () => {
    expect(attached("ns1", labels)).toBe(true);
    expect(attached(root, labels)).toBe(false);
    expect(attached("ns1", { "gateway.networking.k8s.io/gateway-name": "other" })).toBe(false);
    expect(attached("ns1", { app: "x" })).toBe(false);
  });
});

describe("Envoy filters of a proxy", () => {
  const patch = (proxy?: ProxyMatch) => ({
    applyTo: "CLUSTER" as const,
    patch: { operation: "MERGE" as const, value: {} },
    ...(proxy === undefined ? {} : { match: { proxy } }),
  });
  const filter = (key: string, spec: Partial<EnvoyFilter>, age = 0) =>
    config<EnvoyFilter>("EnvoyFilter", key, { configPatches: [patch()], ...spec }, age);
  const proxy = { ...workload, type: "sidecar" as const, istioVersion: "1.30.3", metadata: { TIER: "gold" } };
  const found = (
    filters: readonly Config<EnvoyFilter>[],
    of: Parameters<ReturnType<typeof indexEnvoyFilters>>[0] = proxy,
    boundsProxyVersion = true,
  ) =>
    names(
      indexEnvoyFilters({ configs: filters, rootNamespace: root, boundsProxyVersion })(of).map(
        (selected) => selected.filter,
      ),
    );

  it("apply to no proxy with a version pattern that is too long, where the release bounds it", () => {
    const filters = [1024, 1025].map((length) =>
      filter(`ns1/of-${length}`, { configPatches: [patch({ proxyVersion: `1.30|${"x".repeat(length - 5)}` })] }),
    );
    expect(found(filters)).toEqual(["of-1024"]);
    expect(found(filters, proxy, false)).toEqual(["of-1024", "of-1025"]);
  });

  it("come by priority, the root namespace before others, then by age", () => {
    const filters = [
      filter("ns1/old", {}, 9),
      filter("ns1/young", {}, 1),
      filter(`${root}/mesh`, {}),
      filter("ns1/early", { priority: -1 }),
      filter(`${root}/late`, { priority: 5 }),
      filter("ns2/elsewhere", {}),
      filter("ns1/other", { workloadSelector: { labels: { app: "y" } } }),
    ];
    expect(found(filters)).toEqual(["early", "mesh", "old", "young", "late"]);
  });

  it.each([
    { match: { proxyVersion: "^1\\.30.*" }, version: "1.30.3", want: 1 },
    { match: { proxyVersion: "^1\\.29.*" }, version: "1.30.3", want: 0 },
    { match: { proxyVersion: "^1\\.30.*" }, version: "", want: 0 },
    { match: { proxyVersion: "(" }, version: "1.30.3", want: 0 },
    { match: { metadata: { TIER: "gold" } }, version: "", want: 1 },
    { match: { metadata: { TIER: "iron" } }, version: "", want: 0 },
    { match: { metadata: { NONE: "" } }, version: "", want: 0 },
  ])("$match applies $want times to version '$version'", ({ match, version, want }) => {
    expect(
      found([filter("ns1/f", { configPatches: [patch(match)] })], { ...proxy, istioVersion: version }).length,
    ).toBe(want);
  });

  it("leave out patches for proxies of another type", () => {
    const ofContext = (context: "GATEWAY" | "SIDECAR_INBOUND" | "ANY") => ({ ...patch(), match: { context } });
    const filters = [
      filter("ns1/f", { configPatches: [ofContext("GATEWAY"), ofContext("SIDECAR_INBOUND"), ofContext("ANY")] }),
    ];
    expect(found(filters).length).toBe(2);
    expect(found(filters, { ...proxy, type: "router" }).length).toBe(2);
  });
});
