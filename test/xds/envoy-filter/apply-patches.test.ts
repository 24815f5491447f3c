import { describe, expect, it } from "vitest";
import { isArray, isObject, type Json } from "../../conformance/json.ts";
import { hcm, patched, patchedGateway, patchedWith } from "./patched-world.ts";

const httpFilterNames = (filters: Json | undefined) =>
  isArray(filters) ? filters.map((filter) => (isObject(filter) ? filter.name : "")) : [];
const lua = (name: string) => ({
  name,
  typed_config: {
    "@type": "type.googleapis.com/envoy.extensions.filters.http.lua.v3.Lua",
    default_source_code: { inline_string: "function envoy_on_request(h) end" },
  },
});
const outboundFilters = (operation: string, value: object | undefined, subFilter?: string) => {
  const filter = { name: hcm, ...(subFilter === undefined ? {} : { subFilter: { name: subFilter } }) };
  const match = { context: "SIDECAR_OUTBOUND", listener: { portNumber: 80, filterChain: { filter } } };
  const { at } = patched({ applyTo: "HTTP_FILTER", match, patch: { operation, ...(value ? { value } : {}) } });
  return httpFilterNames(at("listeners", "0.0.0.0_80", "filterChains", 0, "filters", 0, "typedConfig", "httpFilters"));
};

describe("HTTP filters", () => {
  const before = outboundFilters("REMOVE", undefined, "no-such");
  const router = "envoy.filters.http.router";
  const cors = "envoy.filters.http.cors";

  it.each([
    ["INSERT_FIRST", undefined, ["x", ...before]],
    ["INSERT_FIRST", "no-such", ["x", ...before]],
    ["INSERT_BEFORE", undefined, ["x", ...before]],
    ["INSERT_BEFORE", router, [...before.slice(0, -1), "x", router]],
    ["INSERT_BEFORE", "no-such", before],
    ["INSERT_AFTER", cors, [...before.slice(0, -1), "x", router]],
    ["INSERT_AFTER", "no-such", before],
    ["REPLACE", cors, [...before.slice(0, -2), "x", router]],
    ["REPLACE", undefined, before],
    ["REMOVE", cors, [...before.slice(0, -2), router]],
    ["REMOVE", undefined, before],
  ])("take %s at %s", (operation, subFilter, want) => {
    expect(outboundFilters(operation, operation === "REMOVE" ? undefined : lua("x"), subFilter)).toEqual(want);
  });
});

describe("MERGE_AND_REPLACE_LIST of a filter", () => {
  it("does nothing, and says so", () => {
    const typed_config = {
      "@type": `type.googleapis.com/envoy.extensions.filters.network.${"http_connection_manager"}.v3.HttpConnectionManager`,
      stat_prefix: "mine",
    };
    const match = { context: "SIDECAR_OUTBOUND", listener: { filterChain: { filter: { name: hcm } } } };
    const patch = { operation: "MERGE_AND_REPLACE_LIST", value: { name: hcm, typed_config } };
    const { at, diagnostics } = patched({ applyTo: "NETWORK_FILTER", match, patch });
    expect(at("listeners", "0.0.0.0_80", "filterChains", 0, "filters", 0, "typedConfig", "statPrefix")).not.toBe(
      "mine",
    );
    expect(diagnostics).toEqual([]);
  });
});

describe("clusters", () => {
  const merge = (match: object, value: object) => ({ applyTo: "CLUSTER", match, patch: { operation: "MERGE", value } });
  const web = "outbound|80||web.default.svc.cluster.local";

  it.each([
    ["service", { service: "web.default.svc.cluster.local" }],
    ["name", { name: web }],
    ["port", { portNumber: 80 }],
  ])("are found by %s", (_by, cluster) => {
    const { at } = patched(merge({ context: "SIDECAR_OUTBOUND", cluster }, { alt_stat_name: "patched" }));
    expect(at("clusters", web, "altStatName")).toBe("patched");
    expect(at("clusters", "outbound|5432||db.default.svc.cluster.local", "altStatName")).not.toBe("patched");
  });

  it("have their lists replaced by MERGE_AND_REPLACE_LIST, but for an empty one and for those in a transport socket", () => {
    const thresholds = [{ max_connections: 5 }];
    const value = { circuit_breakers: { thresholds }, transport_socket_matches: [] };
    const match = { context: "SIDECAR_OUTBOUND", cluster: { name: web } };
    const replacing = { applyTo: "CLUSTER", match, patch: { operation: "MERGE_AND_REPLACE_LIST", value } };
    const { at } = patched(replacing);
    expect(at("clusters", web, "circuitBreakers", "thresholds")).toEqual([{ maxConnections: 5 }]);
    const before = patched(merge(match, {})).at("clusters", web, "transportSocketMatches");
    expect(at("clusters", web, "transportSocketMatches")).toEqual(before);
    const socket = {
      name: "envoy.transport_sockets.tls",
      typed_config: {
        "@type": "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext",
        common_tls_context: { alpn_protocols: ["own"] },
      },
    };
    const { at: inSocket } = patched({
      ...replacing,
      patch: { ...replacing.patch, value: { transport_socket: socket } },
    });
    const alpn = ["transportSocketMatches", 0, "transportSocket", "typedConfig", "commonTlsContext", "alpnProtocols"];
    expect(inSocket("clusters", web, ...alpn)).toEqual(["istio-peer-exchange", "istio", "own"]);
  });

  it("of the inbound side are found by the service behind them", () => {
    const cluster = { service: "web.default.svc.cluster.local" };
    const { at } = patched(merge({ context: "SIDECAR_INBOUND", cluster }, { alt_stat_name: "patched" }));
    expect(at("clusters", "inbound|8080||", "altStatName")).toBe("patched");
    expect(at("clusters", web, "altStatName")).not.toBe("patched");
  });

  it("are added once where any context will do, and removed", () => {
    const { names } = patched(
      { applyTo: "CLUSTER", patch: { operation: "ADD", value: { name: "added", connect_timeout: "1s" } } },
      { applyTo: "CLUSTER", match: { cluster: { name: web } }, patch: { operation: "REMOVE" } },
    );
    expect(names("clusters").filter((name) => name === "added")).toHaveLength(1);
    expect(names("clusters")).not.toContain(web);
  });

  const socket = (name: string) => ({
    alt_stat_name: "not-read",
    transport_socket: {
      name,
      typed_config: {
        "@type": "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext",
        sni: "patched.example",
      },
    },
  });

  it("that choose among transport sockets take one of a name that is there, and nothing else of the patch", () => {
    const { at } = patched(merge({ cluster: { name: web } }, socket("envoy.transport_sockets.tls")));
    expect(JSON.stringify(at("clusters", web, "transportSocketMatches"))).toContain('"sni":"patched.example"');
    expect(at("clusters", web, "altStatName")).not.toBe("not-read");
    const other = patched(merge({ cluster: { name: web } }, socket("example.other")));
    expect(JSON.stringify(other.at("clusters", web))).not.toContain("patched.example");
  });
});

describe("route tables", () => {
  const host = "web.default.svc.cluster.local:80";
  const routePatch = (
    operation: string,
    route?: object,
    value: object = { name: "x", match: { path: "/x" }, route: { cluster: "x" } },
  ) => {
    const match = {
      context: "SIDECAR_OUTBOUND",
      routeConfiguration: { vhost: { name: host, ...(route ? { route } : {}) } },
    };
    const { at } = patched({
      applyTo: "HTTP_ROUTE",
      match,
      patch: { operation, ...(operation === "REMOVE" ? {} : { value }) },
    });
    const hosts = at("routes", "80", "virtualHosts");
    const found = (isArray(hosts) ? hosts : []).find((one) => isObject(one) && one.name === host);
    return httpFilterNames(isObject(found) ? found.routes : undefined);
  };

  it.each([
    ["ADD", undefined, ["default", "x"]],
    ["INSERT_FIRST", { name: "default" }, ["x", "default"]],
    ["INSERT_FIRST", { name: "no-such" }, ["default"]],
    ["INSERT_BEFORE", { name: "default" }, ["x", "default"]],
    ["INSERT_AFTER", { action: "ROUTE" }, ["default", "x"]],
    ["INSERT_AFTER", { action: "REDIRECT" }, ["default"]],
    ["MERGE", { name: "default" }, ["x"]],
    ["REMOVE", { name: "default" }, []],
  ])("take %s of a route at %j", (operation, route, want) => {
    expect(routePatch(operation, route)).toEqual(want);
  });

  it("lose a host by name, one that is added under it included", () => {
    const match = { context: "SIDECAR_OUTBOUND", routeConfiguration: { name: "80", vhost: { name: host } } };
    const { at } = patched(
      { applyTo: "VIRTUAL_HOST", match, patch: { operation: "REMOVE" } },
      { applyTo: "VIRTUAL_HOST", match, patch: { operation: "ADD", value: { name: host, domains: ["new"] } } },
    );
    expect(JSON.stringify(at("routes", "80"))).not.toContain(host);
  });
});

describe("route tables of a gateway", () => {
  const http = (more: object) => ({ hosts: ["*"], port: { number: 80, name: "http", protocol: "HTTP" }, ...more });
  const tls = { mode: "SIMPLE", credentialName: "secret" };
  const https = (more: object) => ({
    hosts: ["a.example"],
    port: { number: 443, name: "web", protocol: "HTTPS" },
    tls,
    ...more,
  });
  const tablesFound = (server: object, routeConfiguration: object) => {
    const value = { request_headers_to_remove: ["x-drop"] };
    const { value: made } = patchedGateway([server], {
      applyTo: "ROUTE_CONFIGURATION",
      match: { context: "GATEWAY", routeConfiguration },
      patch: { operation: "MERGE", value },
    });
    return made.routes.filter(({ json }) => JSON.stringify(json).includes("x-drop")).map(({ name }) => name);
  };

  it.each([
    ["the port of a server", http({}), { portNumber: 80 }, ["http.8080"]],
    ["the port of a server with a bind", http({ bind: "10.0.0.1" }), { portNumber: 80 }, ["http.8080.10.0.0.1"]],
    ["another port than that of a server with a bind", http({ bind: "10.0.0.1" }), { portNumber: 81 }, []],
    ["a port name", https({}), { portName: "web" }, ["https.443.web.gw.default"]],
    ["a Gateway", https({}), { gateway: "default/gw" }, ["https.443.web.gw.default"]],
    ["another Gateway", https({}), { gateway: "default/other" }, []],
    // The name of the table is read back, and a bind hides what stands before it.
    ["a Gateway whose server has a bind", https({ bind: "10.0.0.1" }), { gateway: "default/gw" }, []],
    [
      "the port of an HTTPS server with a bind",
      https({ bind: "10.0.0.1" }),
      { portNumber: 443 },
      ["https.443.web.gw.default.10.0.0.1"],
    ],
  ])("are found by %s", (_by, server, routeConfiguration, want) => {
    expect(tablesFound(server, routeConfiguration)).toEqual(want);
  });
});

describe("listeners and chains", () => {
  it("of the virtual inbound listener are told apart by the port of the chain", () => {
    const { at } = patched({
      applyTo: "FILTER_CHAIN",
      match: { context: "SIDECAR_INBOUND", listener: { portNumber: 8080 } },
      patch: { operation: "MERGE", value: { transport_socket_connect_timeout: "9s" } },
    });
    const chains = at("listeners", "virtualInbound", "filterChains");
    const patchedPorts = (isArray(chains) ? chains : [])
      .filter((chain) => isObject(chain) && chain.transportSocketConnectTimeout === "9s")
      .map((chain) => JSON.stringify(chain).match(/"destinationPort":(\d+)/)?.[1]);
    expect(new Set(patchedPorts)).toEqual(new Set(["8080"]));
  });

  it.each([
    ["envoy.transport_sockets.tls", true],
    ["envoy.transport_sockets.raw_buffer", false],
  ])("are told apart by their transport socket, where a chain without any has that of plain text: %s", (name, ends) => {
    const { at } = patched({
      applyTo: "FILTER_CHAIN",
      match: { context: "SIDECAR_INBOUND", listener: { filterChain: { transportSocket: name } } },
      patch: { operation: "MERGE", value: { transport_socket_connect_timeout: "9s" } },
    });
    const chains = at("listeners", "virtualInbound", "filterChains");
    const found = (isArray(chains) ? chains : []).filter(isObject);
    const isPatched = (chain: (typeof found)[number]) => chain.transportSocketConnectTimeout === "9s";
    expect(found.filter(isPatched)).not.toEqual([]);
    expect(found.map((chain) => chain.transportSocket !== undefined)).toEqual(
      found.map((chain) => isPatched(chain) === ends),
    );
  });

  it("are removed whole", () => {
    const { names, at } = patched(
      { applyTo: "LISTENER", match: { listener: { name: "0.0.0.0_80" } }, patch: { operation: "REMOVE" } },
      {
        applyTo: "NETWORK_FILTER",
        match: { listener: { portNumber: 5432, filterChain: { filter: { name: "envoy.filters.network.tcp_proxy" } } } },
        patch: { operation: "REMOVE" },
      },
    );
    expect(names("listeners")).not.toContain("0.0.0.0_80");
    expect(at("listeners", "10.0.0.2_5432", "filterChains", 0)).toBeDefined();
    expect(at("listeners", "10.0.0.2_5432", "filterChains", 0, "filters")).toBeUndefined();
  });

  it("merge a listener filter into those of its type, and rename none", () => {
    const type = "type.googleapis.com/envoy.extensions.filters.listener.tls_inspector.v3.TlsInspector";
    const { at } = patched({
      applyTo: "LISTENER_FILTER",
      match: { context: "SIDECAR_INBOUND", listener: { listenerFilter: "envoy.filters.listener.tls_inspector" } },
      patch: {
        operation: "MERGE",
        value: { name: "x", typed_config: { "@type": type, enable_ja3_fingerprinting: true } },
      },
    });
    const filters = JSON.stringify(at("listeners", "virtualInbound", "listenerFilters"));
    expect(filters).not.toContain('"name":"x"');
    expect(filters.match(/"enableJa3Fingerprinting":true/g)).toHaveLength(1);
  });

  it("are added once where any context will do", () => {
    const value = {
      name: "mine",
      address: { socket_address: { address: "127.0.0.1", port_value: 1 } },
      filter_chains: [{}],
    };
    const { names } = patched({ applyTo: "LISTENER", patch: { operation: "ADD", value } });
    expect(names("listeners").filter((name) => name === "mine")).toHaveLength(1);
  });

  it("change the inline route table of the inbound side", () => {
    const { at } = patched({
      applyTo: "VIRTUAL_HOST",
      match: { context: "SIDECAR_INBOUND", routeConfiguration: { portNumber: 8080 } },
      patch: { operation: "MERGE", value: { request_headers_to_remove: ["x-drop"] } },
    });
    expect(JSON.stringify(at("listeners", "virtualInbound"))).toContain('"requestHeadersToRemove":["x-drop"]');
  });
});

describe("what is wrong with a patch", () => {
  it("costs the patch, when its value for some versions of proxies is no such message", () => {
    const value = { connect_timeout: ["not", "a", "duration"] };
    const match = { proxy: { proxyVersion: ".*" } };
    const { diagnostics, names } = patched({ applyTo: "CLUSTER", match, patch: { operation: "MERGE", value } });
    expect(diagnostics).toMatchObject([
      { code: "envoy-filter-value", path: ["spec", "configPatches", 0, "patch", "value", "connect_timeout"] },
    ]);
    expect(names("clusters")).toContain("PassthroughCluster");
  });

  it("closes where its type is not known and the settings accept none: it may have been an authorizer", () => {
    const value = { name: "x", typed_config: { "@type": "type.googleapis.com/example.Filter" } };
    const match = { context: "SIDECAR_OUTBOUND", listener: { portNumber: 80, filterChain: { filter: { name: hcm } } } };
    const { diagnostics, at } = patched({
      applyTo: "HTTP_FILTER",
      match,
      patch: { operation: "INSERT_FIRST", value },
    });
    expect(diagnostics).toMatchObject([
      {
        code: "envoy-filter-unknown-type",
        severity: "error",
        path: ["spec", "configPatches", 0, "patch", "value", "typed_config", "@type"],
      },
      { code: "security-closed", severity: "warning" },
    ]);
    expect(JSON.stringify(at("listeners", "0.0.0.0_80"))).not.toContain("example.Filter");
  });

  it("is said once for a type that is not known and accepted, which is passed on as written", () => {
    const typed_config = { "@type": "type.googleapis.com/example.Filter", some_field: { deep: [1, null] } };
    const patch = {
      applyTo: "HTTP_FILTER",
      match: { context: "SIDECAR_OUTBOUND", listener: { filterChain: { filter: { name: hcm } } } },
      patch: { operation: "INSERT_FIRST", value: { name: "x", typed_config } },
    };
    const { diagnostics, at } = patchedWith("acceptUnknownTypes: true", patch);
    expect(diagnostics.map(({ code, severity }) => `${severity} ${code}`)).toEqual([
      "warning envoy-filter-unknown-type",
    ]);
    const path = ["filterChains", 0, "filters", 0, "typedConfig", "httpFilters", 0, "typedConfig"];
    expect(at("listeners", "0.0.0.0_80", ...path)).toEqual(typed_config);
  });

  it("leaves a filter as it is whose type is another one", () => {
    const typed_config = { "@type": "type.googleapis.com/envoy.extensions.filters.http.cors.v3.Cors" };
    const filter = { name: hcm, subFilter: { name: "envoy.filters.http.router" } };
    const { diagnostics } = patched({
      applyTo: "HTTP_FILTER",
      match: { context: "SIDECAR_OUTBOUND", listener: { portNumber: 80, filterChain: { filter } } },
      patch: { operation: "MERGE", value: { typed_config } },
    });
    expect(new Set(diagnostics.map((diagnostic) => diagnostic.code))).toEqual(new Set(["envoy-filter-unmergeable"]));
  });
});
