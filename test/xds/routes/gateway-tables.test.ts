import { describe, expect, it } from "vitest";
import type { Server } from "../../../lib/config/kinds/gateway.ts";
import { intersectHosts } from "../../../lib/config/values/host-name.ts";
import { noMemo } from "../../../lib/incremental/memo.ts";
import type { MeshVirtualService } from "../../../lib/mesh/index/virtual-service-index.ts";
import { bySpecificity, serverHostsFor } from "../../../lib/xds/routes/gateway-hosts.ts";
import { generateRoutes } from "../../../lib/xds/routes/generate-routes.ts";
import { gatewayView, routeView, service, virtualService } from "./fixture.ts";

const http = (hosts: readonly string[], more: Partial<Server> = {}): Server => ({
  port: { number: 80, protocol: "HTTP", name: "http" },
  hosts,
  ...more,
});

const to = (hosts: readonly string[], path: string, name = "vs"): MeshVirtualService =>
  virtualService(name, {
    hosts,
    gateways: ["default/gw"],
    http: [{ match: [{ uri: { prefix: path } }], route: [{ destination: { host: "a.default.svc.cluster.local" } }] }],
  });

function table(servers: readonly Server[], virtualServices: readonly MeshVirtualService[]) {
  const services = [service("a.default.svc.cluster.local", [[9080, "HTTP"]])];
  const gateway = gatewayView("http.8080", servers, virtualServices);
  const view = routeView({ services, gateway, proxy: { type: "router" } });
  return generateRoutes(view, ["http.8080"], noMemo).value[0]?.json ?? {};
}

const summary = (servers: readonly Server[], virtualServices: readonly MeshVirtualService[]) =>
  (table(servers, virtualServices).virtualHosts ?? []).map(({ name, domains, routes, requireTls }) => ({
    name,
    domains,
    paths: routes?.map((route) => route.match?.prefix) ?? [],
    ...(requireTls === undefined ? {} : { requireTls }),
  }));

describe("the route tables of a gateway", () => {
  it("name hosts after the declared port and send to the only port of a service", () => {
    const made = table([http(["a.example.com"])], [to(["a.example.com"], "/")]);
    expect(made.virtualHosts?.[0]?.name).toBe("a.example.com:80");
    expect(made.virtualHosts?.[0]?.routes?.[0]?.route?.cluster).toBe("outbound|9080||a.default.svc.cluster.local");
  });

  it("join the routes of several virtual services for a host and put those that take everything last", () => {
    expect(summary([http(["*"])], [to(["a.example.com"], "/", "one"), to(["A.example.com"], "/x", "two")])).toEqual([
      { name: "a.example.com:80", domains: ["a.example.com"], paths: ["/x", "/"] },
    ]);
  });

  it("answer an unrouted table with 404", () => {
    expect(summary([http(["*"])], [])).toEqual([{ name: "blackhole:80", domains: ["*"], paths: [] }]);
  });

  it("put hosts with the same routes under the most specific of them", () => {
    expect(summary([http(["*"])], [to(["b.example.com", "*.example.org", "aa.example.com"], "/")])).toEqual([
      { name: "aa.example.com:80", domains: ["aa.example.com", "b.example.com", "*.example.org"], paths: ["/"] },
    ]);
  });

  it("tell hosts apart that must use TLS, routed or not", () => {
    const redirecting = http(["b.example.com", "c.example.com"], { tls: { httpsRedirect: true } });
    expect(summary([http(["a.example.com"]), redirecting], [to(["a.example.com", "b.example.com"], "/")])).toEqual([
      { name: "a.example.com:80", domains: ["a.example.com"], paths: ["/"] },
      { name: "b.example.com:80", domains: ["b.example.com"], paths: ["/"], requireTls: "ALL" },
      { name: "c.example.com:80", domains: ["c.example.com"], paths: [], requireTls: "ALL" },
    ]);
  });

  it("are empty under a name that no server has", () => {
    const view = routeView({ gateway: gatewayView("http.80", [http(["*"])], []), proxy: { type: "router" } });
    expect(generateRoutes(view, ["http.81"], noMemo).value[0]?.json).toEqual({
      name: "http.81",
      validateClusters: false,
    });
  });
});

describe("serverHostsFor", () => {
  it("keeps bare hosts, those of every namespace and those of the asking one", () => {
    expect(serverHostsFor(["a.com", "*/b.com", "ns1/c.com", "ns2/d.com"], "ns1")).toEqual(["a.com", "b.com", "c.com"]);
  });
});

describe("intersectHosts", () => {
  it.each([
    { a: ["foo.com", "bar.com"], b: ["*.com"], want: ["foo.com", "bar.com"] },
    { a: ["foo.com", "*.net"], b: ["*.com", "bar.net"], want: ["foo.com", "bar.net"] },
    { a: ["*.net"], b: ["*.bar.net"], want: ["*.bar.net"] },
    { a: ["foo.com"], b: ["bar.com"], want: [] },
    { a: ["*", "*.com"], b: ["a.com"], want: ["a.com"] },
  ])("of $a and $b is $want", ({ a, b, want }) => {
    expect(intersectHosts(a, b)).toEqual(want);
  });
});

describe("bySpecificity", () => {
  it("puts exact hosts before wildcards and longer before shorter ones", () => {
    const hosts = ["*", "b.com", "*.example.com", "aa.com", "a.com", "*.com"];
    expect([...hosts].sort(bySpecificity)).toEqual(["aa.com", "a.com", "b.com", "*.example.com", "*.com", "*"]);
  });
});
