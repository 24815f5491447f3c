import { describe, expect, it } from "vitest";
import type { IstioEgressListener } from "../../../lib/config/kinds/sidecar.ts";
import type { VirtualService } from "../../../lib/config/kinds/virtual-service.ts";
import { createMemo } from "../../../lib/incremental/memo.ts";
import { scopeFor } from "../../../lib/mesh/scope/scope-for.ts";
import { type SidecarScope, scopeDependencies } from "../../../lib/mesh/scope/sidecar-scope.ts";
import type { Service } from "../../../lib/registry/service.ts";
import { config, mesh, router, service, sidecar, type WorldParts, world } from "../parts.ts";

const a1 = service({ at: "a.x.com@ns1" });
const a2 = service({ at: "a.x.com@ns2" });
const b2 = service({ at: "b.y.com@ns2", ports: [80, 443] });
const services = [a1, a2, b2];

function scope(parts: WorldParts & { readonly egress?: readonly IstioEgressListener[] }): SidecarScope {
  const configs = [
    ...(parts.configs ?? []),
    ...(parts.egress === undefined ? [] : [config("Sidecar", "ns1/s", { egress: parts.egress })]),
  ];
  const complete = { services, proxies: [sidecar("p.ns1")], ...parts, configs };
  const proxy = world(complete).proxies[0];
  if (proxy === undefined) throw new Error("no proxy");
  const of = mesh(complete);
  const { type, namespace, labels } = proxy;
  const chosen = type === "router" ? undefined : of.sidecars.sidecarFor(namespace, labels);
  return scopeFor(of, { type, namespace, sidecar: chosen }, createMemo());
}

const named = (of: readonly Service[]) =>
  of.map(
    ({ hostname, attributes, ports }) =>
      `${hostname}@${attributes.namespace}:${ports.map(({ port }) => port).join(",")}`,
  );

const hosts = (...of: readonly string[]): readonly IstioEgressListener[] => [{ hosts: of }];

const https = (number: number, protocol: string, ...of: readonly string[]): IstioEgressListener => ({
  port: { number, protocol, name: "p" },
  hosts: of,
});

describe("services that a Sidecar in ns1 imports", () => {
  it.each([
    { egress: hosts("*/*"), want: ["a.x.com@ns1:80", "b.y.com@ns2:80,443"] },
    { egress: hosts("./*"), want: ["a.x.com@ns1:80"] },
    { egress: hosts("ns2/*"), want: ["a.x.com@ns2:80", "b.y.com@ns2:80,443"] },
    { egress: hosts("ns2/a.x.com", "./b.y.com"), want: ["a.x.com@ns2:80"] },
    { egress: hosts("*/*.com"), want: ["a.x.com@ns1:80", "b.y.com@ns2:80,443"] },
    { egress: hosts("*/*", "~ns2/*"), want: ["a.x.com@ns1:80"] },
    { egress: hosts("*/*", "~/b.y.com"), want: ["a.x.com@ns1:80"] },
    { egress: hosts("~/*"), want: [] },
    { egress: hosts("~ns1/*", "~./b.y.com"), want: [] },
    { egress: hosts("ns2/b.y.com", "~ns2/*"), want: [] },
    { egress: [https(443, "HTTPS", "ns2/b.y.com")], want: ["b.y.com@ns2:443"] },
    { egress: [https(8080, "HTTP", "ns2/b.y.com")], want: [] },
    { egress: [https(8080, "HTTP_PROXY", "ns2/b.y.com")], want: ["b.y.com@ns2:80,443"] },
    { egress: [https(443, "HTTPS", "ns2/b.y.com"), https(80, "HTTP", "ns2/b.y.com")], want: ["b.y.com@ns2:443,80"] },
    { egress: undefined, want: ["a.x.com@ns1:80", "b.y.com@ns2:80,443"] },
  ])("are $want for $egress", ({ egress, want }) => {
    expect(named(scope(egress === undefined ? {} : { egress }).services)).toEqual(want);
  });

  it.each([
    { release: "1.30", want: 2 },
    { release: "1.31", want: 0 },
  ] as const)("are $want for an exclusion of everything beside others, in $release", ({ release, want }) => {
    expect(scope({ egress: hosts("*/*", "~/*"), release }).services).toHaveLength(want);
  });

  it("keep aliases that are excluded: an exclusion is about services", () => {
    const aliased = service({
      at: "c.x.com@ns2",
      attributes: { aliases: [{ hostname: "d.x.com", namespace: "ns2" }] },
    });
    const [found] = scope({ services: [aliased], egress: hosts("*/*", "~/d.x.com") }).services;
    expect(found?.attributes.aliases).toHaveLength(1);
  });

  it("have one port on a listener, the first with its number", () => {
    const named = { name: "dns", port: 53 } as const;
    const dns = {
      ...a1,
      ports: [
        { ...named, protocol: "TCP" as const },
        { ...named, protocol: "UDP" as const },
      ],
    };
    const found = scope({ services: [dns], egress: [https(53, "TCP", "*/*")] }).services[0];
    expect(found?.ports.map(({ protocol }) => protocol)).toEqual(["TCP"]);
  });

  it("come from a Kubernetes namespace rather than from an older ServiceEntry", () => {
    const older = service({ at: "a.x.com@ns2", provider: "External", age: 9 });
    const kubernetes = service({ at: "a.x.com@ns3" });
    expect(named(scope({ services: [older, kubernetes], egress: hosts("*/a.x.com") }).services)).toEqual([
      "a.x.com@ns3:80",
    ]);
  });

  it("are what the namespace sees, never a private service of another", () => {
    const hidden = service({ at: "h.x.com@ns2", exportTo: ["."] });
    expect(named(scope({ services: [hidden], egress: hosts("ns2/h.x.com") }).services)).toEqual([]);
  });

  it("keep only imported aliases", () => {
    const aliases = ["old.x.com", "other.y.com"].map((hostname) => ({ hostname, namespace: "ns1" }));
    const aliased = service({ at: "a.x.com@ns1", attributes: { aliases } });
    const [only] = scope({ services: [aliased], egress: hosts("*/*.x.com") }).services;
    expect(only?.attributes.aliases.map((alias) => alias.hostname)).toEqual(["old.x.com"]);
  });
});

describe("destinations of imported virtual services", () => {
  const c3 = service({ at: "c.z.com@ns3", ports: [8080, 9090] });
  const to = (port: number | undefined, sourceNamespace?: string): VirtualService => ({
    hosts: ["a.x.com"],
    http: [
      {
        ...(sourceNamespace === undefined ? {} : { match: [{ sourceNamespace }] }),
        route: [{ destination: { host: "c.z.com", ...(port === undefined ? {} : { port: { number: port } }) } }],
      },
    ],
  });

  it.each([
    { why: "come along with the port they name", spec: to(8080), want: ["c.z.com@ns3:8080"] },
    { why: "come along with all ports when they name none", spec: to(undefined), want: ["c.z.com@ns3:8080,9090"] },
    { why: "stay away when none of their ports exists", spec: to(1), want: [] },
    { why: "stay away when the route is for another namespace", spec: to(8080, "ns9"), want: [] },
    { why: "come along when the route is for this namespace", spec: to(8080, "ns1"), want: ["c.z.com@ns3:8080"] },
  ])("$why", ({ spec, want }) => {
    const found = scope({
      services: [a1, c3],
      configs: [config("VirtualService", "ns1/v", spec)],
      egress: hosts("./*"),
    });
    expect(named(found.services)).toEqual(["a.x.com@ns1:80", ...want]);
  });
});

it("a hidden service of the namespace comes along where a route leads to it, and no other way", () => {
  const hidden = service({ at: "h.x.com@ns1", ports: [80, 443], exportTo: ["~"] });
  const foreign = service({ at: "f.x.com@ns2", exportTo: ["~"] });
  const to = (host: string) => ({ destination: { host, port: { number: 443 } } });
  const spec: VirtualService = { hosts: ["a.x.com"], http: [{ route: [to("h.x.com"), to("f.x.com")] }] };
  const parts = { services: [a1, hidden, foreign] };
  expect(named(scope(parts).services)).toEqual(["a.x.com@ns1:80"]);
  const routed = scope({ ...parts, configs: [config("VirtualService", "ns1/v", spec)] });
  expect(named(routed.services)).toEqual(["a.x.com@ns1:80", "h.x.com@ns1:443"]);
});

describe("virtual services of a listener", () => {
  const of = (key: string, host: string, age: number) => config("VirtualService", key, { hosts: [host] }, age);

  it("overlap an import either way", () => {
    const configs = [of("ns1/wide", "*.com", 3), of("ns1/exact", "a.x.com", 2), of("ns1/other", "b.org", 1)];
    const [listener] = scope({ configs, egress: hosts("*/a.x.com") }).egressListeners;
    expect(listener?.virtualServices.map(({ config }) => config.meta.name)).toEqual(["wide", "exact"]);
  });

  it("serve a host by their most specific host, the older of equals", () => {
    const configs = [of("ns1/wide", "*.com", 9), of("ns1/first", "a.x.com", 3), of("ns1/second", "a.x.com", 2)];
    const [listener] = scope({ configs }).egressListeners;
    expect(listener?.virtualServiceByHost().get("a.x.com")?.config.meta.name).toBe("first");
    expect(listener?.virtualServiceByHost().get("b.y.com")?.config.meta.name).toBe("wide");
  });
});

it("ignores Sidecars for gateways", () => {
  const seen = scope({ proxies: [router("g.ns1")], egress: hosts("./*") });
  expect(seen.id).toBe("gateway:ns1");
  expect(named(seen.services)).toEqual(["a.x.com@ns1:80", "b.y.com@ns2:80,443"]);
});

it("reads a Sidecar of the root namespace as one of the workload's own", () => {
  const configs = [config("Sidecar", "istio-system/r", { egress: hosts("./*") })];
  expect(named(scope({ configs }).services)).toEqual(["a.x.com@ns1:80"]);
});

it("depends on the objects that it was made from", () => {
  const configs = [
    config("VirtualService", "ns1/v", { hosts: ["a.x.com"] }),
    config("VirtualService", "ns1/w", { hosts: ["w.org"] }),
    config("DestinationRule", "ns1/d", { host: "a.x.com" }),
    config("DestinationRule", "ns2/e", { host: "a.x.com" }),
  ];
  expect([...scopeDependencies(scope({ configs, egress: hosts("./a.x.com") }))].sort()).toEqual([
    "DestinationRule/ns1/d",
    "ServiceEntry/ns1/a.x.com",
    "Sidecar/ns1/s",
    "VirtualService/ns1/v",
  ]);
});
