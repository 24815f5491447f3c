import { describe, expect, it } from "vitest";
import { readFiles } from "../../../lib/config/folder/directory.ts";
import { listenersOf, type SmallWorld } from "../listeners/small-world.ts";

const web = `
apiVersion: v1
kind: Service
metadata: {name: web, namespace: default}
spec: {clusterIP: 10.0.0.1, ports: [{name: http, port: 80}, {name: tcp-x, port: 81}]}
`;

function plugin(name: string, spec: string, meta = "namespace: default"): string {
  return `
---
apiVersion: extensions.istio.io/v1alpha1
kind: WasmPlugin
metadata: {name: ${name}, ${meta}}
spec: {url: "oci://example.com/${name}:1", ${spec}}
`;
}

/** Names of the extensions in the HTTP chain of port 80, shortly, and the filters between them. */
function httpChain(world: SmallWorld): readonly string[] {
  const { at } = listenersOf(world);
  const path = ["filterChains", 0, "filters", 0, "typedConfig", "httpFilters"] as const;
  const names: string[] = [];
  for (let index = 0; at("0.0.0.0_80", ...path, index) !== undefined; index++) {
    names.push(String(at("0.0.0.0_80", ...path, index, "name")).replace("extensions.istio.io/trafficextension/", ""));
  }
  return names.filter((name) => name.includes("~"));
}

const translated = (name: string) => `${name}~istio-translated-wasmplugin`;

describe("extensions in a chain", () => {
  it("stand by phase, then by priority, then by age", () => {
    const input =
      web +
      plugin("late", "phase: STATS, priority: 99") +
      plugin("low", "phase: AUTHN") +
      plugin("high", "phase: AUTHN, priority: 1") +
      plugin("old", "phase: AUTHN", 'namespace: default, creationTimestamp: "2020-01-01T00:00:00Z"');
    expect(httpChain({ input })).toEqual(
      ["default.high", "default.old", "default.low", "default.late"].map(translated),
    );
  });

  it("come from the workload's namespace before the root namespace", () => {
    const input = web + plugin("a", "phase: AUTHN", "namespace: istio-system") + plugin("b", "phase: AUTHN");
    expect(httpChain({ input })).toEqual(["default.b", "istio-system.a"].map(translated));
  });

  it("stay out of listeners that their selectors do not mean", () => {
    const input =
      web + plugin("server", "match: [{mode: SERVER}]") + plugin("other", "match: [{ports: [{number: 8080}]}]");
    expect(httpChain({ input })).toEqual([]);
  });

  it("stand before the TCP proxy when they are of the network layer", () => {
    const { at } = listenersOf({ input: web + plugin("net", "type: NETWORK, phase: AUTHZ") });
    expect(at("10.0.0.1_81", "filterChains", 0, "filters", 0, "name")).toBe(
      translated("extensions.istio.io/trafficextension/default.net"),
    );
    expect(httpChain({ input: web + plugin("net", "type: NETWORK") })).toEqual([]);
  });

  it("are of their own kind too: Wasm to be discovered, Lua in place", () => {
    const extension = (name: string, spec: string) => `
---
apiVersion: extensions.istio.io/v1alpha1
kind: TrafficExtension
metadata: {name: ${name}, namespace: default}
spec: {${spec}}
`;
    const input =
      web +
      extension("a-wasm", 'phase: AUTHZ, priority: 2, wasm: {url: "oci://example.com/a:1"}') +
      extension("b-lua", 'phase: AUTHZ, priority: 1, lua: {inlineCode: "function envoy_on_request(h) end"}');
    const { at } = listenersOf({ input });
    const filters = ["filterChains", 0, "filters", 0, "typedConfig", "httpFilters"] as const;
    const name = (of: string) => `extensions.istio.io/trafficextension/default.${of}`;
    const first = [0, 1, 2, 3].find((index) => at("0.0.0.0_80", ...filters, index, "name") === name("a-wasm")) ?? -1;
    expect(at("0.0.0.0_80", ...filters, first, "configDiscovery", "typeUrls")).toHaveLength(2);
    expect(at("0.0.0.0_80", ...filters, first + 1)).toMatchObject({
      name: name("b-lua"),
      typedConfig: { defaultSourceCode: { inlineString: "function envoy_on_request(h) end" } },
    });
    const { diagnostics } = readFiles([{ file: "a.yaml", text: input }]);
    expect(diagnostics).toEqual([]);
  });
});
