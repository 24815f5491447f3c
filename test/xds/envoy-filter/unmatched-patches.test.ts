import { describe, expect, it } from "vitest";
import { settledMatches } from "../../../lib/xds/envoy-filter/match-notes.ts";
import { hcm, patched, patchedGateway } from "./patched-world.ts";

const fault = {
  name: "x",
  typed_config: { "@type": "type.googleapis.com/envoy.extensions.filters.http.fault.v3.HTTPFault" },
};
const patch = (applyTo: string, match: object, operation = "MERGE", value: object = {}) => ({
  applyTo,
  match,
  patch: { operation, value },
});
const said = ({ diagnostics }: ReturnType<typeof patched>) =>
  diagnostics.map(({ code, severity, path, message }) => `${severity} ${code} ${path.join(".")} ${message}`);
const filter = (name: string, subFilter?: string) => ({
  filterChain: { filter: { name, ...(subFilter === undefined ? {} : { subFilter: { name: subFilter } }) } },
});
const web = "web.default.svc.cluster.local";
const vhost = (name: string) => ({ routeConfiguration: { vhost: { name } } });

describe("a patch that matches nothing", () => {
  it.each([
    ["listener", patch("LISTENER", { listener: { name: "0.0.0.0_81" } })],
    ["listener filter", patch("LISTENER_FILTER", { listener: { listenerFilter: "none" } })],
    ["filter chain", patch("FILTER_CHAIN", { listener: { filterChain: { sni: "none.example" } } })],
    ["network filter", patch("NETWORK_FILTER", { listener: filter("envoy.filters.network.mongo_proxy") })],
    ["network filter", patch("NETWORK_FILTER", { listener: { portNumber: 81, ...filter(hcm) } })],
    [
      "HTTP filter",
      patch("HTTP_FILTER", { listener: filter(hcm, "envoy.filters.http.ratelimit") }, "INSERT_AFTER", fault),
    ],
    [
      "HTTP filter",
      patch("HTTP_FILTER", { context: "SIDECAR_INBOUND", listener: { portNumber: 81, ...filter(hcm) } }, "ADD", fault),
    ],
    ["route table", patch("ROUTE_CONFIGURATION", { routeConfiguration: { name: "81" } })],
    ["virtual host", patch("VIRTUAL_HOST", vhost("none.example:80"))],
    ["route", patch("HTTP_ROUTE", { routeConfiguration: { vhost: { route: { name: "none" } } } })],
    ["cluster", patch("CLUSTER", { cluster: { service: "none.example" } })],
    ["cluster", patch("CLUSTER", { context: "SIDECAR_INBOUND", cluster: { portNumber: 80, service: web } })],
  ])("is said, with what it was to match: %s", (thing, one) => {
    const [note, ...others] = said(patched(one));
    expect(note).toContain(`warning envoy-filter-no-match spec.configPatches.0.match matches no ${thing} of any proxy`);
    expect(others).toEqual([]);
  });

  it("is said of a gateway", () => {
    const servers = [{ hosts: ["*"], port: { number: 80, name: "http", protocol: "HTTP" } }];
    const one = (portNumber: number) => patch("ROUTE_CONFIGURATION", { routeConfiguration: { portNumber } });
    expect(said(patchedGateway(servers, one(81)))).toEqual([expect.stringContaining("no route table")]);
    expect(said(patchedGateway(servers, one(80)))).toEqual([]);
  });

  it.each([
    ["adds a cluster", patch("CLUSTER", {}, "ADD", { name: "mine" })],
    ["changes all clusters", patch("CLUSTER", {})],
    [
      "changes the inbound cluster of a service",
      patch("CLUSTER", { context: "SIDECAR_INBOUND", cluster: { service: web } }),
    ],
    ["changes routes that a listener carries", patch("HTTP_ROUTE", { context: "SIDECAR_INBOUND" })],
    ["changes routes by their host", patch("HTTP_ROUTE", vhost(`${web}:80`))],
    [
      "inserts before the router",
      patch("HTTP_FILTER", { listener: filter(hcm, "envoy.filters.http.router") }, "INSERT_BEFORE", fault),
    ],
    [
      "removes a filter",
      patch(
        "NETWORK_FILTER",
        { listener: { portNumber: 5432, ...filter("envoy.filters.network.tcp_proxy") } },
        "REMOVE",
      ),
    ],
  ])("is not one that %s", (_what, one) => {
    expect(said(patched(one))).toEqual([]);
  });

  it("is not one that is about a filter that another patch inserts", () => {
    const behind = patch("HTTP_FILTER", { listener: filter(hcm, "x") }, "INSERT_AFTER", { ...fault, name: "y" });
    const before = patch("HTTP_FILTER", { listener: filter(hcm, "envoy.filters.http.router") }, "INSERT_BEFORE", fault);
    expect(said(patched(before, behind))).toEqual([]);
  });
});

describe("what classes say of one patch", () => {
  it("comes to nothing where it matches in one of them", () => {
    const origin = { key: { group: "", kind: "EnvoyFilter", name: "a", namespace: "b" }, file: "a.yaml", line: 1 };
    const note = (message: string, index: number) =>
      ({
        code: "envoy-filter-no-match",
        severity: "warning",
        origin,
        path: ["spec", index],
        message,
        hint: "",
      }) as const;
    const other = { ...note("other", 0), code: "no-effect" } as const;
    expect(settledMatches([note("matches no", 0), other, note("", 0), note("matches no", 1)])).toEqual([
      other,
      note("matches no", 1),
    ]);
    const without = [other];
    expect(settledMatches(without)).toBe(without);
  });
});
