import { describe, expect, it } from "vitest";
import { predecessorOf } from "../../../lib/incremental/list-delta.ts";
import { createMemo, noMemo } from "../../../lib/incremental/memo.ts";
import { lazyFieldOf } from "../../../lib/xds/lazy-field.ts";
import { generateRoutes } from "../../../lib/xds/routes/generate-routes.ts";
import { destinationRule, routeView, service, type ViewParts, virtualService } from "./fixture.ts";

const a = service("a.default.svc.cluster.local", [
  [80, "HTTP"],
  [9080, "HTTP"],
]);
const b = service("b.default.svc.cluster.local", [[9080, "Unsupported"]]);
const tcp = service("tcp.default.svc.cluster.local", [[80, "TCP"]]);

const to = (host: string) => ({ http: [{ route: [{ destination: { host } }] }] });

function table(name: string, parts: ViewParts) {
  const [resource] = generateRoutes(routeView(parts), [name], noMemo).value;
  return resource?.json ?? {};
}

function hosts(name: string, parts: ViewParts) {
  return (table(name, parts).virtualHosts ?? []).map((host) => host.name);
}

function host(name: string, hostName: string, parts: ViewParts) {
  return table(name, parts).virtualHosts?.find((candidate) => candidate.name === hostName);
}

describe("the route tables of a sidecar", () => {
  it("have one virtual host for each HTTP service of the port, sorted, and the catch-all last", () => {
    expect(hosts("9080", { services: [b, a, tcp] })).toEqual([
      "a.default.svc.cluster.local:9080",
      "b.default.svc.cluster.local:9080",
      "allow_any",
    ]);
    expect(hosts("80", { services: [tcp] })).toEqual(["allow_any"]);
  });

  it("know nothing of UDP: a virtual service for it names a host that is no service", () => {
    const udp = service("udp.default.svc.cluster.local", [[80, "UDP"]]);
    const virtualServices = [virtualService("v", { hosts: [udp.hostname], ...to(a.hostname) })];
    expect(host("80", `${udp.hostname}:80`, { services: [udp], virtualServices })?.domains).toEqual([udp.hostname]);
    const both = service("dns.default.svc.cluster.local", [
      [80, "UDP"],
      [80, "HTTP"],
    ]);
    expect(hosts("80", { services: [both] })).toEqual(["dns.default.svc.cluster.local:80", "allow_any"]);
  });

  it("refuse what they do not know under REGISTRY_ONLY", () => {
    expect(host("80", "block_all", { policy: { mode: "REGISTRY_ONLY" } })?.routes?.[0]?.directResponse).toEqual({
      status: 502,
    });
  });

  it("send what they do not know to the egress proxy", () => {
    const egressProxy = { host: "egress.default.svc.cluster.local", port: { number: 8080 } };
    const found = host("80", "allow_any", { policy: { mode: "ALLOW_ANY", egressProxy } });
    expect(found?.routes?.[0]?.route?.cluster).toBe("outbound|8080||egress.default.svc.cluster.local");
  });

  it.each(["nonsense", "http.8080", "80x"])("are empty under the unknown name %s", (name) => {
    expect(table(name, { services: [a] })).toEqual({ name, validateClusters: false });
  });

  it("hold one host for everything, and no catch-all, where the listener has told the host by its address", () => {
    const sniffed = table("b.default.svc.cluster.local:9080", { services: [a, b] });
    expect(sniffed.virtualHosts?.map(({ name, domains }) => ({ name, domains }))).toEqual([
      { name: "b.default.svc.cluster.local:9080", domains: ["*"] },
    ]);
  });

  it("leave the table of the port alone when a sniffed one is made beside it", () => {
    const names = ["b.default.svc.cluster.local:9080", "9080"];
    const [, whole] = generateRoutes(routeView({ services: [b] }), names, createMemo()).value;
    expect(whole?.json.virtualHosts?.[0]?.domains).toContain("b.default.svc.cluster.local");
  });

  it("take a virtual service for a host that is no service on port 80 only", () => {
    const parts = {
      services: [a],
      virtualServices: [virtualService("vs", { hosts: ["x.example.com"], ...to(a.hostname) })],
    };
    expect(hosts("80", parts)).toContain("x.example.com:80");
    expect(hosts("9080", parts)).not.toContain("x.example.com:9080");
  });

  it("bring the other hosts of a virtual service along on each port of a service that it names", () => {
    const vs = virtualService("vs", { hosts: ["X.example.com", b.hostname], ...to(b.hostname) });
    const parts = { services: [a, b], virtualServices: [vs] };
    expect(hosts("9080", parts)).toContain("x.example.com:9080");
    expect(host("80", "b.default.svc.cluster.local:80", parts)?.domains).toEqual([b.hostname]);
  });

  it("take the older of two virtual services for one host and say so", () => {
    const older = virtualService("older", { hosts: [a.hostname], ...to("old.default.svc.cluster.local") });
    const newer = virtualService("newer", { hosts: [a.hostname], ...to("new.default.svc.cluster.local") });
    const view = routeView({ services: [a], virtualServices: [older, newer] });
    const { value, diagnostics } = generateRoutes(view, ["80"], noMemo);
    expect(value[0]?.json.virtualHosts?.[0]?.routes?.[0]?.route?.cluster).toBe(
      "outbound|80||old.default.svc.cluster.local",
    );
    expect(diagnostics).toMatchObject([{ code: "duplicate-virtual-host", origin: { key: { name: "newer" } } }]);
  });

  it("give a service that several wildcards match to the longest one", () => {
    const wide = virtualService("wide", { hosts: ["*.cluster.local"], ...to("w.default.svc.cluster.local") });
    const narrow = virtualService("narrow", {
      hosts: ["*.default.svc.cluster.local"],
      ...to("n.default.svc.cluster.local"),
    });
    const found = host("80", "a.default.svc.cluster.local:80", { services: [a], virtualServices: [wide, narrow] });
    expect(found?.routes?.[0]?.route?.cluster).toBe("outbound|80||n.default.svc.cluster.local");
  });

  it("keep a wildcard that matches no service as a host of its own", () => {
    const vs = virtualService("vs", { hosts: ["*.example.com"], ...to(a.hostname) });
    expect(host("80", "*.example.com:80", { services: [a], virtualServices: [vs] })?.domains).toEqual([
      "*.example.com",
    ]);
  });

  it("leave a service its default route when no route of its virtual service applies", () => {
    const vs = virtualService("vs", { http: [{ match: [{ port: 81 }], route: [{ destination: { host: "x" } }] }] });
    const found = host("80", "a.default.svc.cluster.local:80", { services: [a], virtualServices: [vs] });
    expect(found?.routes?.map((route) => route.name)).toEqual(["default"]);
  });

  it("leave a short name to the service that really has it", () => {
    const real = service("a.default", [[80, "HTTP"]]);
    const found = host("80", "a.default.svc.cluster.local:80", { services: [a, real] });
    expect(found?.domains).not.toContain("a.default");
  });

  it("show an alias only through the service that it stands for", () => {
    const alias = service("alias.default.svc.cluster.local", [[80, "HTTP"]], {
      resolution: "Alias",
      attributes: { externalName: a.hostname },
    });
    expect(hosts("80", { services: [alias] })).toEqual(["allow_any"]);
    const vs = virtualService("vs", { hosts: ["x.example.com"], ...to(alias.hostname) });
    const found = host("80", "x.example.com:80", { services: [a, alias], virtualServices: [vs] });
    expect(found?.routes?.[0]?.route?.cluster).toBe("outbound|80||a.default.svc.cluster.local");
  });

  it("tell hosts of an HTTP proxy apart by the port in the domain, all but those of port 80", () => {
    const parts = { services: [a] };
    expect(hosts("http_proxy", parts)).toEqual([
      "a.default.svc.cluster.local:80",
      "a.default.svc.cluster.local:9080",
      "allow_any",
    ]);
    expect(host("http_proxy", "a.default.svc.cluster.local:80", parts)?.domains).toContain("a");
    const other = host("http_proxy", "a.default.svc.cluster.local:9080", parts)?.domains ?? [];
    expect(other.every((domain) => domain.endsWith(":9080"))).toBe(true);
  });

  it("serve all ports under the port of an egress listener that is an HTTP proxy", () => {
    const spec = { port: { number: 3128, protocol: "HTTP_PROXY", name: "proxy" }, hosts: ["*/*"] };
    expect(hosts("3128", { services: [a], spec })).toContain("a.default.svc.cluster.local:9080");
  });

  it("have only the catch-all where no egress listener has the port", () => {
    const spec = { port: { number: 80, protocol: "HTTP", name: "http" }, hosts: ["*/*"] };
    expect(hosts("9080", { services: [a], spec })).toEqual(["allow_any"]);
  });

  it("switch the attempt count off on demand", () => {
    const proxyConfig = { ...routeView({}).proxy.proxyConfig, proxyHeaders: { attemptCount: { disabled: true } } };
    const found = table("80", { services: [a], proxy: { proxyConfig } });
    expect(found.virtualHosts?.some((each) => "includeRequestAttemptCount" in each)).toBe(false);
  });
});

describe("the memo of route tables", () => {
  const rule = destinationRule({
    host: a.hostname,
    trafficPolicy: { loadBalancer: { consistentHash: { httpHeaderName: "x" } } },
  });
  const forA = virtualService("for-a", { hosts: [a.hostname], ...to(a.hostname) });
  const forB = virtualService("for-b", { hosts: [b.hostname], ...to(b.hostname) });
  const parts = { services: [a, b], virtualServices: [forA, forB], destinationRules: [rule] };
  const names = ["80", "9080", "http_proxy", "b.default.svc.cluster.local:9080"];

  it("changes no byte", () => {
    const memo = createMemo();
    generateRoutes(
      routeView({ ...parts, proxy: { namespace: "other", dnsDomain: "other.svc.cluster.local" } }),
      names,
      memo,
    );
    generateRoutes(routeView({ ...parts, virtualServices: [forB] }), names, memo);
    expect(generateRoutes(routeView(parts), names, memo)).toEqual(generateRoutes(routeView(parts), names, noMemo));
  });

  it("keeps tables whose objects did not change, and the other virtual hosts of one that did", () => {
    const memo = createMemo();
    const before = generateRoutes(routeView(parts), names, memo).value;
    const changed = virtualService("for-b", { hosts: [b.hostname], ...to("c.default.svc.cluster.local") });
    const after = generateRoutes(routeView({ ...parts, virtualServices: [forA, changed] }), names, memo).value;
    const hostOf = (tables: typeof before, index: number, name: string) =>
      tables[index]?.json.virtualHosts?.find((each) => each.name === name);
    expect(hostOf(after, 1, "a.default.svc.cluster.local:9080")).toBe(
      hostOf(before, 1, "a.default.svc.cluster.local:9080"),
    );
    expect(hostOf(after, 1, "b.default.svc.cluster.local:9080")).not.toEqual(
      hostOf(before, 1, "b.default.svc.cluster.local:9080"),
    );
    const again = generateRoutes(routeView({ ...parts, virtualServices: [forA, changed] }), names, memo).value;
    expect(again.map((each, index) => each === after[index])).toEqual(names.map(() => true));
  });

  it("of many hosts are made in one place where the routes of one are others, and were made from the same objects", () => {
    const many = Array.from({ length: 80 }, (_, at) => service(`s${at}.default.svc.cluster.local`, [[80, "HTTP"]]));
    const owned = many.filter((_, at) => at % 2 === 0);
    const owners = owned.map(({ hostname }, at) => virtualService(`v${at}`, { hosts: [hostname], ...to("old") }));
    const memo = createMemo();
    const view = routeView({ services: many });
    const tableOf = (virtualServices: typeof owners, by = memo) => {
      const egressListeners = view.scope.egressListeners.map((listener) => ({ ...listener, virtualServices }));
      return generateRoutes({ ...view, scope: { ...view.scope, egressListeners } }, ["80"], by).value[0];
    };
    const before = tableOf(owners);
    const edited = owners.with(30, virtualService("v30", { hosts: [owned[30]?.hostname ?? ""], ...to("new") }));
    const after = tableOf(edited);
    expect(after).toEqual(tableOf(edited, noMemo));
    expect(after?.from).toBe(before?.from);
    const place = after?.json.virtualHosts?.findIndex(({ name }) => name?.startsWith(`${owned[30]?.hostname}:`));
    const [hosts, hostsBefore] = [after, before].map((table) => table && lazyFieldOf(table.json)?.elements);
    expect(hosts && predecessorOf(hosts)).toEqual({ list: hostsBefore, places: [place] });
    expect(hosts?.toArray()).toEqual(after?.json.virtualHosts);
    const fewer = edited.with(30, virtualService("v30", { hosts: ["elsewhere.example.com"], ...to("new") }));
    expect(tableOf(fewer)).toEqual(tableOf(fewer, noMemo));
  });
});
