import { describe, expect, it } from "vitest";
import type { Config } from "../../../lib/config/config.ts";
import type { VirtualService } from "../../../lib/config/kinds/virtual-service.ts";
import { noMemo } from "../../../lib/incremental/memo.ts";
import { gatewayNameOf, withFullNames } from "../../../lib/mesh/hosts/short-names.ts";
import { indexVirtualServices } from "../../../lib/mesh/index/virtual-service-index.ts";
import { config } from "../parts.ts";

const of = (key: string, spec: Partial<VirtualService>, age = 0): Config<VirtualService> =>
  config("VirtualService", key, { hosts: ["a.com"], ...spec }, age);

const index = (configs: readonly Config<VirtualService>[], exportDefault = ["*"]) =>
  indexVirtualServices(configs, exportDefault, noMemo);

const names = (
  configs: readonly Config<VirtualService>[],
  namespace: string,
  gateway = "mesh",
  exportDefault = ["*"],
) =>
  index(configs, exportDefault)
    .value.forGateway(namespace, gateway)
    .map(({ config: { meta } }) => meta.name);

describe("virtual services that a namespace sees", () => {
  it("are its private ones, those exported to it, then public ones, each oldest first", () => {
    const configs = [
      of("ns2/public", {}, 9),
      of("ns2/exported", { exportTo: ["ns1"] }, 8),
      of("ns1/private-old", { exportTo: ["."] }, 7),
      of("ns1/private", { exportTo: ["ns1"] }, 6),
      of("ns2/hidden", { exportTo: ["."] }, 5),
      of("ns2/nowhere", { exportTo: ["~"] }, 4),
    ];
    expect(names(configs, "ns1")).toEqual(["private-old", "private", "exported", "public"]);
    expect(names(configs, "ns3")).toEqual(["public"]);
  });

  it("follow the mesh's default where they say nothing", () => {
    expect(names([of("ns2/v", {})], "ns1", "mesh", ["."])).toEqual([]);
    expect(names([of("ns1/v", {})], "ns1", "mesh", ["."])).toEqual(["v"]);
  });

  it("are told apart by gateway, which is mesh when none is named", () => {
    const configs = [
      of("ns1/m", {}, 3),
      of("ns1/g", { gateways: ["g"] }, 2),
      of("ns1/both", { gateways: ["mesh", "ns2/g"] }, 1),
    ];
    expect(names(configs, "ns1")).toEqual(["m", "both"]);
    expect(names(configs, "ns1", "ns1/g")).toEqual(["g"]);
    expect(names(configs, "ns9", "ns2/g")).toEqual(["both"]);
  });
});

describe("gateway names seen from ns1", () => {
  it.each([
    ["mesh", "mesh"],
    ["g", "ns1/g"],
    ["./g", "ns1/g"],
    ["ns2/g", "ns2/g"],
    ["g.ns2.svc.cluster.local", "ns2/g"],
  ])("%s is %s", (written, want) => {
    expect(gatewayNameOf(written, "ns1")).toBe(want);
  });
});

it("writes every host, destination and gateway out in full", () => {
  const { spec } = withFullNames(
    of("ns1/v", {
      hosts: ["a", "b.com"],
      gateways: ["g"],
      http: [
        {
          match: [{ gateways: ["g", "mesh"] }],
          route: [{ destination: { host: "a" } }],
          mirror: { host: "m" },
          mirrors: [{ destination: { host: "n" } }],
        },
      ],
      tcp: [{ match: [{ gateways: ["g"] }], route: [{ destination: { host: "t" } }] }],
      tls: [{ match: [{ sniHosts: ["b.com"], gateways: ["ns2/g"] }], route: [{ destination: { host: "u.v" } }] }],
    }),
  );
  const full = (name: string) => `${name}.ns1.svc.cluster.local`;
  expect(spec.hosts).toEqual([full("a"), "b.com"]);
  expect(spec.gateways).toEqual(["ns1/g"]);
  expect(spec.http?.[0]).toEqual({
    match: [{ gateways: ["ns1/g", "mesh"] }],
    route: [{ destination: { host: full("a") } }],
    mirror: { host: full("m") },
    mirrors: [{ destination: { host: full("n") } }],
  });
  expect(spec.tcp?.[0]?.route?.[0]?.destination.host).toBe(full("t"));
  expect(spec.tls?.[0]?.route?.[0]?.destination.host).toBe("u.v");
});

describe("delegates", () => {
  const delegate = of("ns2/d", { hosts: [], http: [{ name: "one", route: [{ destination: { host: "x" } }] }] });
  const root = of("ns1/r", { http: [{ delegate: { name: "d", namespace: "ns2" } }, { redirect: { uri: "/" } }] });

  it("replace the route that names them, with hosts seen from their own namespace", () => {
    const [merged] = index([root, delegate]).value.all;
    expect(merged?.config.spec.http).toEqual([
      { name: "one", route: [{ destination: { host: "x.ns2.svc.cluster.local" } }] },
      { redirect: { uri: "/" } },
    ]);
    expect(merged?.from.map(({ name }) => name)).toEqual(["r", "d"]);
  });

  it.each([
    { why: "does not exist", delegates: [], code: "delegate-not-found" },
    {
      why: "is not exported to the root",
      delegates: [of("ns2/d", { hosts: [], exportTo: ["."], http: [] })],
      code: "delegate-not-exported",
    },
  ])("cost the route when one $why", ({ delegates, code }) => {
    const { value, diagnostics } = index([root, ...delegates]);
    expect(value.all[0]?.config.spec.http).toEqual([{ redirect: { uri: "/" } }]);
    expect(diagnostics.map((diagnostic) => diagnostic.code)).toContain(code);
  });

  it("are reported when nobody names them", () => {
    expect(index([delegate]).diagnostics.map(({ code }) => code)).toEqual(["delegate-unused"]);
  });
});
