import { describe, expect, it } from "vitest";
import { hcm, patched } from "./patched-world.ts";

const add = (applyTo: string, value: object, match: object = {}) => ({
  applyTo,
  match: { context: "SIDECAR_OUTBOUND", ...match },
  patch: { operation: "ADD", value },
});
const table = { routeConfiguration: { name: "80" } };
const http = { listener: { portNumber: 80, filterChain: { filter: { name: hcm } } } };
const tcp = { listener: { portNumber: 5432 } };
const buffer = {
  name: "x",
  typed_config: {
    "@type": "type.googleapis.com/envoy.extensions.filters.http.buffer.v3.Buffer",
    max_request_bytes: 1024,
  },
};
const router = {
  name: "mine",
  typed_config: { "@type": "type.googleapis.com/envoy.extensions.filters.http.router.v3.Router" },
};
const echo = {
  name: "echo",
  typed_config: { "@type": "type.googleapis.com/envoy.extensions.filters.network.echo.v3.Echo" },
};
const address = (port: number, ip = "127.0.0.1") => ({ socket_address: { address: ip, port_value: port } });
const host = (name: string, ...domains: readonly string[]) => ({ name, domains });
const web = "web.default.svc.cluster.local";

describe("a patch for which Envoy would refuse the whole", () => {
  it.each([
    ["adds a domain that the table has", [add("VIRTUAL_HOST", host("mine", web), table)]],
    ["adds it in capitals", [add("VIRTUAL_HOST", host("mine", web.toUpperCase()), table)]],
    ["adds a second catch-all", [add("VIRTUAL_HOST", host("mine", "*"), table)]],
    ["adds one domain twice in a host", [add("VIRTUAL_HOST", host("mine", "a.example", "A.example"), table)]],
    [
      "merges a domain of one host into another",
      [
        {
          applyTo: "VIRTUAL_HOST",
          match: { routeConfiguration: { name: "80", vhost: { name: "allow_any" } } },
          patch: { operation: "MERGE", value: { domains: [web] } },
        },
      ],
    ],
    [
      "renames a table",
      [{ applyTo: "ROUTE_CONFIGURATION", match: table, patch: { operation: "MERGE", value: { name: "81" } } }],
    ],
    [
      "adds a domain twice to the table inside a listener",
      [
        {
          applyTo: "VIRTUAL_HOST",
          match: { context: "SIDECAR_INBOUND", routeConfiguration: { portNumber: 8080 } },
          patch: { operation: "ADD", value: host("mine", "*") },
        },
      ],
    ],
    ["adds a filter behind the router", [add("HTTP_FILTER", buffer, http)]],
    [
      "adds a second router",
      [{ ...add("HTTP_FILTER", router, http), patch: { operation: "INSERT_FIRST", value: router } }],
    ],
    [
      "removes the router",
      [
        {
          applyTo: "HTTP_FILTER",
          match: {
            context: "SIDECAR_OUTBOUND",
            listener: {
              portNumber: 80,
              filterChain: { filter: { name: hcm, subFilter: { name: "envoy.filters.http.router" } } },
            },
          },
          patch: { operation: "REMOVE" },
        },
      ],
    ],
    ["adds a chain that matches what another does", [add("FILTER_CHAIN", { filters: [echo] }, tcp)]],
    [
      "adds a chain with one range written twice",
      [
        add(
          "FILTER_CHAIN",
          {
            filters: [echo],
            filter_chain_match: {
              prefix_ranges: [
                { address_prefix: "10.1.0.0", prefix_len: 8 },
                { address_prefix: "10.2.0.0", prefix_len: 8 },
              ],
            },
          },
          tcp,
        ),
      ],
    ],
    ["removes the only chain", [{ applyTo: "FILTER_CHAIN", match: tcp, patch: { operation: "REMOVE" } }]],
    [
      "adds a listener on an address that is taken",
      [add("LISTENER", { name: "mine", address: address(5432, "10.0.0.2"), filter_chains: [{ filters: [echo] }] })],
    ],
    [
      "adds a listener under a name that is taken",
      [add("LISTENER", { name: "10.0.0.2_5432", address: address(1), filter_chains: [{ filters: [echo] }] })],
    ],
    [
      "moves a listener to an address that is taken",
      [
        {
          applyTo: "LISTENER",
          match: { listener: { name: "0.0.0.0_80" } },
          patch: { operation: "MERGE", value: { address: address(5432, "10.0.0.2") } },
        },
      ],
    ],
    ["adds a listener without a chain", [add("LISTENER", { name: "mine", address: address(1) })]],
    ["adds a cluster under a name that is taken", [add("CLUSTER", { name: "PassthroughCluster" })]],
    [
      "renames a cluster to a name that is taken",
      [
        {
          applyTo: "CLUSTER",
          match: { cluster: { service: web } },
          patch: { operation: "MERGE", value: { name: "PassthroughCluster" } },
        },
      ],
    ],
  ])("is left out and said, and costs nothing else: %s", (_what, patches) => {
    const { diagnostics, value } = patched(...patches);
    expect(new Set(diagnostics.map(({ code }) => code))).toEqual(new Set(["envoy-filter-refused"]));
    expect(diagnostics[0]).toMatchObject({ severity: "error", path: ["spec", "configPatches", 0] });
    const json = ({ clusters, listeners, routes }: typeof value) =>
      [...clusters, ...listeners, ...routes].map((resource) => resource.json);
    expect(json(value)).toEqual(json(patched().value));
  });

  it("is the one that is to blame, and not those before and after it", () => {
    const { diagnostics, at } = patched(
      add("VIRTUAL_HOST", host("first", "first.example"), table),
      add("VIRTUAL_HOST", host("clash", web), table),
      add("VIRTUAL_HOST", host("last", "last.example"), table),
    );
    expect(diagnostics.map(({ path }) => path[2])).toEqual([1]);
    const hosts = JSON.stringify(at("routes", "80", "virtualHosts"));
    expect(hosts).toContain('"first.example"');
    expect(hosts).toContain('"last.example"');
  });

  it("is said with its own breach, and a patch that would have gone in vain stays", () => {
    const without = (subFilter: string) => ({
      applyTo: "HTTP_FILTER",
      match: {
        context: "SIDECAR_OUTBOUND",
        listener: { portNumber: 80, filterChain: { filter: { name: hcm, subFilter: { name: subFilter } } } },
      },
      patch: { operation: "REPLACE", value: { ...buffer, name: "envoy.filters.http.router" } },
    });
    const { diagnostics, at } = patched(without("envoy.filters.http.router"), without("envoy.filters.http.router"), {
      ...add("HTTP_FILTER", buffer, http),
      patch: { operation: "INSERT_FIRST", value: buffer },
    });
    expect(diagnostics.map(({ path }) => path[2]).sort()).toEqual([0, 1]);
    expect(diagnostics[0]?.message).toContain("cannot end a chain");
    expect(JSON.stringify(at("listeners", "0.0.0.0_80"))).toContain('"name":"x"');
  });

  it("denies everything where it was to insert a filter that is not known to be harmless", () => {
    const { diagnostics } = patched(add("NETWORK_FILTER", echo, tcp));
    expect(diagnostics.map(({ code }) => code)).toEqual(["envoy-filter-refused", "security-closed"]);
  });

  it("denies everything where it was to insert a filter that decides who may pass", () => {
    const rbac = {
      name: "mine",
      typed_config: { "@type": "type.googleapis.com/envoy.extensions.filters.http.rbac.v3.RBAC", rules: {} },
    };
    const { diagnostics, at } = patched(add("HTTP_FILTER", rbac, http), add("HTTP_FILTER", buffer, http));
    expect(diagnostics.map(({ code, path }) => [code, path[2]])).toEqual([
      ["envoy-filter-refused", 1],
      ["envoy-filter-refused", 0],
      ["security-closed", 0],
    ]);
    const filters = at("listeners", "0.0.0.0_80", "filterChains", 0, "filters", 0, "typedConfig", "httpFilters");
    expect(filters).toMatchObject({
      0: { name: "envoy.filters.http.rbac", typedConfig: { rules: { action: "DENY" } } },
    });
    expect(JSON.stringify(filters)).not.toContain('"mine"');
  });

  it("goes with every other of its kind, and the first of two equal ones stays", () => {
    const { diagnostics, at } = patched(
      add("VIRTUAL_HOST", host("one", "a.example"), table),
      add("VIRTUAL_HOST", host("two", "A.example"), table),
      add("VIRTUAL_HOST", host("three", "*"), table),
    );
    expect(diagnostics.map(({ path }) => path[2]).sort()).toEqual([1, 2]);
    expect(JSON.stringify(at("routes", "80", "virtualHosts"))).toContain('"name":"one"');
  });
});

describe("patches that only make sense together", () => {
  it("stay: a host removed and its domains in a new one", () => {
    const vhost = { routeConfiguration: { name: "80", vhost: { name: `${web}:80` } } };
    const { diagnostics, at } = patched(
      { applyTo: "VIRTUAL_HOST", match: vhost, patch: { operation: "REMOVE" } },
      add("VIRTUAL_HOST", host("mine", web), table),
    );
    expect(diagnostics).toEqual([]);
    expect(JSON.stringify(at("routes", "80", "virtualHosts"))).toContain('"name":"mine"');
  });

  it("stay: a router removed and another put last", () => {
    const filter = { name: hcm, subFilter: { name: "envoy.filters.http.router" } };
    const match = { context: "SIDECAR_OUTBOUND", listener: { portNumber: 80, filterChain: { filter } } };
    const { diagnostics, at } = patched(
      { applyTo: "HTTP_FILTER", match, patch: { operation: "REMOVE" } },
      add("HTTP_FILTER", router, http),
    );
    expect(diagnostics).toEqual([]);
    expect(JSON.stringify(at("listeners", "0.0.0.0_80"))).toContain('"name":"mine"');
  });

  it("stay: a cluster removed and another of its name added", () => {
    const { diagnostics, at } = patched(
      { applyTo: "CLUSTER", match: { cluster: { name: "PassthroughCluster" } }, patch: { operation: "REMOVE" } },
      add("CLUSTER", { name: "PassthroughCluster", alt_stat_name: "mine" }),
    );
    expect(diagnostics).toEqual([]);
    expect(at("clusters", "PassthroughCluster", "altStatName")).toBe("mine");
  });
});
