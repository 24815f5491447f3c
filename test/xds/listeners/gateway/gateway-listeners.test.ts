import { describe, expect, it } from "vitest";
import { entry, listenersOf } from "../small-world.ts";

const node = { type: "router" } as const;

function gateway(name: string, servers: string): string {
  return `
---
apiVersion: networking.istio.io/v1
kind: Gateway
metadata: {name: ${name}, namespace: istio-system}
spec:
  selector: {app: gateway}
  servers: ${servers}
`;
}

function virtualService(name: string, host: string, routes: string): string {
  return `
---
apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: {name: ${name}, namespace: istio-system}
spec: {hosts: [${host}], gateways: [g], ${routes}}
`;
}

const tls = (mode: string) => `{mode: ${mode}, credentialName: secret}`;

describe("a gateway's listeners", () => {
  it("are none without a Gateway", () => {
    expect(listenersOf({ input: entry("s", 80, "HTTP"), node }).names).toEqual([]);
  });

  it("join plain HTTP servers of one port in one chain without a match", () => {
    const server = (name: string) =>
      `{port: {number: 80, name: ${name}, protocol: HTTP}, hosts: [${name}.example.com]}`;
    const { names, at } = listenersOf({ input: gateway("g", `[${server("a")}, ${server("b")}]`), node });
    expect(names).toEqual(["0.0.0.0_80"]);
    expect(at("0.0.0.0_80", "filterChains", 0, "filterChainMatch")).toBeUndefined();
    expect(at("0.0.0.0_80", "filterChains", 1)).toBeUndefined();
    expect(at("0.0.0.0_80", "listenerFilters")).toBeUndefined();
  });

  it("have a chain for each HTTPS server, by server name unless any will do", () => {
    const server = (name: string, host: string) =>
      `{port: {number: 443, name: ${name}, protocol: HTTPS}, hosts: ["${host}"], tls: ${tls("SIMPLE")}}`;
    const input = gateway("g", `[${server("a", "a.example.com")}, ${server("any", "*")}]`);
    const { at } = listenersOf({ input, node });
    expect(at("0.0.0.0_443", "filterChains", 0, "filterChainMatch")).toEqual({ serverNames: ["a.example.com"] });
    expect(at("0.0.0.0_443", "filterChains", 1, "filterChainMatch")).toBeUndefined();
    expect(at("0.0.0.0_443", "listenerFilters", 0, "name")).toBe("envoy.filters.listener.tls_inspector");
  });

  it("name the statistics of a named HTTPS server after it", () => {
    const server = `{name: shop, port: {number: 443, name: a, protocol: HTTPS}, hosts: [a.example.com], tls: ${tls("SIMPLE")}}`;
    const { at } = listenersOf({ input: gateway("g", `[${server}]`), node });
    expect(at("0.0.0.0_443", "filterChains", 0, "filters", 0, "typedConfig", "statPrefix")).toBe("shop");
  });

  it("leave out a TCP server that no virtual service leads on, and say so", () => {
    const { names, diagnostics } = listenersOf({
      input: gateway("g", "[{port: {number: 31400, name: t, protocol: TCP}, hosts: ['*']}]"),
      node,
    });
    expect(names).toEqual([]);
    expect(diagnostics.map(({ code }) => code)).toContain("gateway-server-without-route");
  });

  it("pass TLS through by server name, each name once on a port", () => {
    const route = "route: [{destination: {host: s.example.com, port: {number: 443}}}]";
    const match = (host: string) => `{match: [{sniHosts: [${host}]}], ${route}}`;
    const input =
      entry("s", 443, "TLS") +
      gateway(
        "g",
        "[{port: {number: 443, name: t, protocol: TLS}, hosts: ['*.example.com'], tls: {mode: PASSTHROUGH}}]",
      ) +
      virtualService("v1", "a.example.com", `tls: [${match("a.example.com")}]`) +
      virtualService("v2", '"*.example.com"', `tls: [${match("a.example.com")}, ${match("b.example.com")}]`);
    const { at, diagnostics } = listenersOf({ input, node });
    const names = [0, 1, 2].map((index) =>
      at("0.0.0.0_443", "filterChains", index, "filterChainMatch", "serverNames", 0),
    );
    expect(names).toEqual(["a.example.com", "b.example.com", undefined]);
    expect(diagnostics.map(({ code }) => code)).toContain("duplicate-sni-host");
  });

  it("run extensions, and no policies, before mesh mTLS that they pass on", () => {
    const input = `${entry("s", 443, "TLS").replace("MESH_EXTERNAL", "MESH_INTERNAL")}${gateway(
      "g",
      "[{port: {number: 15443, name: t, protocol: TLS}, hosts: ['*.example.com'], tls: {mode: AUTO_PASSTHROUGH}}]",
    )}
---
apiVersion: extensions.istio.io/v1alpha1
kind: WasmPlugin
metadata: {name: w, namespace: istio-system}
spec: {url: "oci://example.com/w", type: NETWORK}
---
apiVersion: security.istio.io/v1
kind: AuthorizationPolicy
metadata: {name: p, namespace: istio-system}
spec: {action: DENY, rules: [{from: [{source: {ipBlocks: [1.2.3.4]}}]}]}
`;
    const { at } = listenersOf({ input, node });
    const names = [0, 1, 2].map((index) => at("0.0.0.0_15443", "filterChains", 0, "filters", index, "name"));
    expect(names).toEqual([expect.stringContaining("istio-system.w~"), "envoy.filters.network.tcp_proxy", undefined]);
  });

  it("run network extensions in front of the first HTTPS server of a port", () => {
    const server = (name: string) =>
      `{port: {number: 443, name: ${name}, protocol: HTTPS}, hosts: ["${name}.example.com"], tls: ${tls("SIMPLE")}}`;
    const plugin = `
---
apiVersion: extensions.istio.io/v1alpha1
kind: WasmPlugin
metadata: {name: w, namespace: istio-system}
spec: {url: "oci://example.com/w", type: NETWORK}
`;
    const { at } = listenersOf({ input: gateway("g", `[${server("a")}, ${server("b")}]`) + plugin, node });
    const first = [0, 1].map((chain) => at("0.0.0.0_443", "filterChains", chain, "filters", 0, "name"));
    expect(first).toEqual([
      expect.stringContaining("istio-system.w~"),
      "envoy.filters.network.http_connection_manager",
    ]);
  });

  it("keep a privileged port from a pod without the right to it", () => {
    const servers =
      "[{port: {number: 80, name: h, protocol: HTTP}, hosts: ['*']}, {port: {number: 8080, name: i, protocol: HTTP}, hosts: ['*']}]";
    const unprivileged = { ...node, metadata: { UNPRIVILEGED_POD: "true" } };
    expect(listenersOf({ input: gateway("g", servers), node: unprivileged }).names).toEqual(["0.0.0.0_8080"]);
  });

  it("believe the clients of the mesh's own networks", () => {
    const networks =
      "networks: {b: {endpoints: [{fromCidr: 10.2.0.0/16}], gateways: []}, a: {endpoints: [{fromCidr: 9.0.0.0/8}, {fromRegistry: x}], gateways: []}}";
    const input = gateway("g", "[{port: {number: 80, name: h, protocol: HTTP}, hosts: ['*']}]");
    const { at } = listenersOf({ input, networks, node });
    expect(at("0.0.0.0_80", "filterChains", 0, "filters", 0, "typedConfig", "internalAddressConfig")).toEqual({
      cidrRanges: [
        { addressPrefix: "9.0.0.0", prefixLen: 8 },
        { addressPrefix: "10.2.0.0", prefixLen: 16 },
      ],
    });
  });
});
