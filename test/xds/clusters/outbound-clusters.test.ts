import { describe, expect, it } from "vitest";
import type { ClusterJson } from "../../../gen/envoy/config/cluster/v3/cluster_pb.ts";
import type { DestinationRule, TrafficPolicy } from "../../../lib/config/kinds/destination-rule.ts";
import { createMemo, noMemo } from "../../../lib/incremental/memo.ts";
import { wholeList } from "../../../lib/xds/resource.ts";
import { clustersOf, clusterView, endpoint, externalService, type Parts, port, rule, service } from "../world-parts.ts";

const cart = service("cart");
const host = cart.hostname;
const whole = `outbound|80||${host}`;

function clusters(parts: Parts): ReadonlyMap<string, ClusterJson> {
  const made = wholeList(clustersOf(clusterView({ services: [cart], ...parts }), noMemo));
  return new Map(made.map((resource) => [resource.name, resource.json]));
}

const outboundNames = (parts: Parts): readonly string[] =>
  [...clusters(parts).keys()].filter((name) => name.startsWith("outbound"));

const ruled = (spec: Omit<DestinationRule, "host">): Pick<Parts, "rules"> => ({
  rules: { [host]: rule({ host, ...spec }) },
});

const policed = (trafficPolicy: TrafficPolicy): Pick<Parts, "rules"> => ruled({ trafficPolicy });

const istio = (cluster: ClusterJson | undefined) => cluster?.metadata?.filterMetadata?.istio;

describe("the clusters of a service", () => {
  it("are one for each port and one for each subset of it", () => {
    const two = service("cart", { ports: [port("http", 80, "HTTP"), port("grpc", 81, "GRPC")] });
    const subsets = [{ name: "v1" }, { name: "v2" }];
    expect(outboundNames({ services: [two], ...ruled({ subsets }) })).toEqual([
      `outbound|80|v1|${host}`,
      `outbound|80|v2|${host}`,
      whole,
      `outbound|81|v1|${host}`,
      `outbound|81|v2|${host}`,
      `outbound|81||${host}`,
    ]);
  });

  it("leave out UDP ports and aliases", () => {
    const udp = service("cart", { ports: [port("dns", 53, "UDP")] });
    expect(outboundNames({ services: [udp] })).toEqual([]);
    expect(outboundNames({ services: [service("cart", { resolution: "Alias" })] })).toEqual([]);
  });

  it("say which service, rule and subset they come from", () => {
    const services = [{ host, name: "cart", namespace: "default" }];
    const config = "/apis/networking.istio.io/v1/namespaces/default/destination-rule/r";
    const all = clusters(ruled({ subsets: [{ name: "v1" }] }));
    expect(istio(clusters({}).get(whole))).toEqual({ services });
    expect(istio(all.get(whole))).toEqual({ services, config });
    expect(istio(all.get(`outbound|80|v1|${host}`))).toEqual({ services, config, subset: "v1" });
  });

  it("come with the keys of the objects that shaped them", () => {
    const view = clusterView({ services: [cart], ...policed({}) });
    const resource = wholeList(clustersOf(view, noMemo)).find(({ name }) => name === whole);
    expect(resource?.from).toEqual([
      { group: "", kind: "Service", name: "cart", namespace: "default" },
      { group: "networking.istio.io", kind: "DestinationRule", name: "r", namespace: "default" },
    ]);
  });

  it("are the same objects again as long as nothing they are made from changed", () => {
    const memo = createMemo();
    const view = clusterView({ services: [cart, service("other")] });
    const { outbound } = view;
    const first = wholeList(clustersOf(view, memo));
    const second = wholeList(
      clustersOf({ ...view, outbound: { ...outbound, endpoints: { ...outbound.endpoints } } }, memo),
    );
    expect(second.every((resource, index) => resource === first[index])).toBe(true);
  });
});

describe("discovery", () => {
  const headless = service("cart", { resolution: "Passthrough" });
  const external = externalService("api.example.com", { resolution: "DNSLB" });
  const dnsName = "outbound|80||api.example.com";
  const name = endpoint("api.example.com", { hasHealth: false, tlsMode: "disabled" });
  const resolved: Parts = { services: [external], endpoints: { "api.example.com": [name] } };

  it("is EDS by the cluster's own name", () => {
    expect(clusters({}).get(whole)).toMatchObject({
      type: "EDS",
      edsClusterConfig: {
        serviceName: whole,
        edsConfig: { ads: {}, initialFetchTimeout: "0s", resourceApiVersion: "V3" },
      },
    });
  });

  it("keeps the original destination of headless services, but not at gateways", () => {
    expect(clusters({ services: [headless] }).get(whole)).toMatchObject({
      type: "ORIGINAL_DST",
      lbPolicy: "CLUSTER_PROVIDED",
    });
    expect(clusters({ services: [headless], proxy: { type: "router" } }).get(whole)?.type).toBe("EDS");
  });

  it("overrides the port where the service states another target", () => {
    const ports = new Map([[80, 8080]]);
    const other = service("cart", { resolution: "Passthrough", attributes: { passthroughTargetPorts: ports } });
    expect(clusters({ services: [other] }).get(whole)?.originalDstLbConfig).toEqual({ upstreamPortOverride: 8080 });
  });

  it("resolves names inside the cluster, with the endpoints in it", () => {
    expect(clusters(resolved).get(dnsName)).toMatchObject({
      type: "STRICT_DNS",
      dnsLookupFamily: "V4_ONLY",
      dnsRefreshRate: "60s",
      dnsJitter: "0.100s",
      respectDnsTtl: true,
      loadAssignment: {
        clusterName: dnsName,
        endpoints: [
          {
            locality: {},
            lbEndpoints: [
              { endpoint: { address: { socketAddress: { address: "api.example.com", portValue: 8080 } } } },
            ],
          },
        ],
      },
    });
  });

  it("resolves one name at a time for DNS_ROUND_ROBIN, and all where there are several", () => {
    const services = [externalService("api.example.com", { resolution: "DNSRoundRobinLB" })];
    expect(clusters({ ...resolved, services }).get(dnsName)?.type).toBe("LOGICAL_DNS");
    const endpoints = { "api.example.com": [name, endpoint("b.example.com")] };
    expect(clusters({ services, endpoints }).get(dnsName)?.type).toBe("STRICT_DNS");
  });

  it("races the addresses of a name where the entry asks for it", () => {
    const racing = { ...external, attributes: { ...external.attributes, racesConnections: true } } as const;
    expect(clusters({ ...resolved, services: [racing] }).get(dnsName)).toMatchObject({
      type: "LOGICAL_DNS",
      dnsLookupFamily: "ALL",
    });
  });

  it.each([
    { ipMode: "IPv4", want: "V4_ONLY" },
    { ipMode: "IPv6", want: "V6_ONLY" },
    { ipMode: "dual", want: "V4_ONLY" },
  ] as const)("looks up $want for an $ipMode proxy", ({ ipMode, want }) => {
    expect(clusters({ ...resolved, proxy: { ipMode } }).get(dnsName)?.dnsLookupFamily).toBe(want);
  });

  it("has no cluster for a name with nothing behind it, while EDS has one", () => {
    expect(outboundNames({ services: [external] })).toEqual([]);
    expect(outboundNames({})).toEqual([whole]);
  });

  it("takes the endpoints of a subset for its DNS cluster", () => {
    const v1 = endpoint("v1.example.com", { labels: { version: "v1" } });
    const rules = {
      "api.example.com": rule({ host: "api.example.com", subsets: [{ name: "v1", labels: { version: "v1" } }] }),
    };
    const all = clusters({ services: [external], endpoints: { "api.example.com": [name, v1] }, rules });
    expect(all.get(dnsName)?.loadAssignment?.endpoints?.[0]?.lbEndpoints).toHaveLength(2);
    expect(all.get("outbound|80|v1|api.example.com")?.loadAssignment?.endpoints?.[0]?.lbEndpoints).toHaveLength(1);
  });

  it("PASSTHROUGH makes any cluster keep the original destination, and its subsets with it", () => {
    const all = clusters(
      ruled({ trafficPolicy: { loadBalancer: { simple: "PASSTHROUGH" } }, subsets: [{ name: "v1" }] }),
    );
    for (const cluster of [all.get(whole), all.get(`outbound|80|v1|${host}`)]) {
      expect(cluster).toMatchObject({ type: "ORIGINAL_DST", lbPolicy: "CLUSTER_PROVIDED" });
      expect(cluster).not.toHaveProperty("edsClusterConfig");
    }
  });

  it("PASSTHROUGH of a subset alone overrides the port like that of a service, at gateways too", () => {
    const attributes = { ...headless.attributes, passthroughTargetPorts: new Map([[80, 8080]]) };
    const loadBalancer = { simple: "PASSTHROUGH" } as const;
    const subsets = [
      { name: "all", trafficPolicy: { loadBalancer } },
      { name: "port", trafficPolicy: { portLevelSettings: [{ port: { number: 80 }, loadBalancer }] } },
    ];
    const all = clusters({
      services: [{ ...headless, attributes }],
      proxy: { type: "router" },
      ...ruled({ subsets }),
    });
    expect(all.get(`outbound|80|all|${host}`)).toMatchObject({
      type: "ORIGINAL_DST",
      originalDstLbConfig: { upstreamPortOverride: 8080 },
    });
    expect(all.get(`outbound|80|port|${host}`)).toMatchObject({ type: "ORIGINAL_DST" });
    expect(all.get(`outbound|80|port|${host}`)).not.toHaveProperty("originalDstLbConfig");
  });

  it("resolves the host of each request for a DYNAMIC_DNS wildcard, on ports that carry a name", () => {
    const ports = [port("http", 80, "HTTP"), port("tls", 443, "TLS"), port("tcp", 70, "TCP")];
    const wildcard = externalService("*.dyn.example.com", { resolution: "DynamicDNS", ports });
    const all = clusters({ services: [wildcard] });
    expect(outboundNames({ services: [wildcard] })).toEqual([
      "outbound|443||*.dyn.example.com",
      "outbound|80||*.dyn.example.com",
    ]);
    const cluster = all.get("outbound|443||*.dyn.example.com");
    expect(cluster).toMatchObject({
      lbPolicy: "CLUSTER_PROVIDED",
      clusterType: { name: "envoy.clusters.dynamic_forward_proxy" },
      metadata: { filterMetadata: { istio: { external: true } } },
    });
    expect(cluster).not.toHaveProperty("type");
    expect(cluster).not.toHaveProperty("commonLbConfig");
  });

  it("knows neither identities nor stat names of a DYNAMIC_DNS wildcard", () => {
    const wildcard = service("dyn", { resolution: "DynamicDNS", hostname: "*.dyn.example.com" });
    const mesh = { outboundClusterStatName: "%SERVICE%" };
    const cluster = clusters({ services: [wildcard], mesh, accounts: ["spiffe://a/b"] }).get(
      "outbound|80||*.dyn.example.com",
    );
    expect(cluster?.altStatName).toBe("outbound|80||*.dyn.example.com;");
    expect(JSON.stringify(cluster?.transportSocketMatches)).not.toContain("spiffe://");
  });
});

describe("commonLbConfig", () => {
  const failover = { failover: [{ from: "a", to: "b" }] };
  const distribute = { distribute: [{ from: "*", to: { a: 100 } }] };

  it.each([
    { policy: { outlierDetection: {} }, weighs: false },
    { policy: { loadBalancer: { localityLbSetting: failover } }, weighs: false },
    { policy: { outlierDetection: {}, loadBalancer: { localityLbSetting: failover } }, weighs: true },
    {
      policy: { outlierDetection: {}, loadBalancer: { localityLbSetting: { failoverPriority: ["a"] } } },
      weighs: true,
    },
    { policy: { loadBalancer: { localityLbSetting: distribute } }, weighs: true },
    { policy: { loadBalancer: { localityLbSetting: { ...distribute, enabled: false } } }, weighs: false },
  ])("weighs localities for $policy: $weighs", ({ policy, weighs }) => {
    const config = clusters(policed(policy)).get(whole)?.commonLbConfig;
    expect(config !== undefined && "localityWeightedLbConfig" in config).toBe(weighs);
  });

  it("stays with draining hosts for services with sessions, not for subsets", () => {
    const sticky = service("cart", { attributes: { labels: { "istio.io/persistent-session-header": "x" } } });
    const all = clusters({ services: [sticky], ...ruled({ subsets: [{ name: "v1" }] }) });
    expect(all.get(whole)?.commonLbConfig?.overrideHostStatus?.statuses).toContain("DRAINING");
    expect(all.get(`outbound|80|v1|${host}`)?.commonLbConfig).toEqual({});
  });
});

describe("stat names", () => {
  it("follow the mesh's pattern and end in a semicolon", () => {
    const mesh = { outboundClusterStatName: "%SERVICE%_%SUBSET_NAME%_%TARGET_PORT%" };
    const all = clusters({ mesh, ...ruled({ subsets: [{ name: "v1" }] }) });
    expect(all.get(`outbound|80|v1|${host}`)?.altStatName).toBe("cart.default_v1_0;");
    expect(clusters({}).get(whole)?.altStatName).toBe(`${whole};`);
  });
});

describe("clusters of an SNI-routing gateway", () => {
  const gateway = { proxy: { type: "router" }, passesMtlsOn: true } as const;

  it("are twins without TLS of all services but external ones", () => {
    const services = [cart, externalService("x.example", { resolution: "ClientSideLB" })];
    const view = clusterView({ ...gateway, services, ...ruled({ subsets: [{ name: "v1" }] }) });
    const made = wholeList(clustersOf(view, noMemo)).filter(({ name }) => name.startsWith("outbound_."));
    expect(made.map(({ name }) => name)).toEqual([`outbound_.80_._.${host}`, `outbound_.80_.v1_.${host}`]);
    for (const { json } of made) {
      expect(json).not.toHaveProperty("transportSocket");
      expect(json).not.toHaveProperty("transportSocketMatches");
    }
  });

  it("have endpoints even for a DYNAMIC_DNS wildcard, no subsets of it, and no sessions", () => {
    const labels = { "istio.io/persistent-session": "cookie" };
    const wildcard = service("dyn", { resolution: "DynamicDNS", hostname: "*.x.example", attributes: { labels } });
    const rules = { [wildcard.hostname]: rule({ host: wildcard.hostname, subsets: [{ name: "v1" }] }) };
    const made = wholeList(clustersOf(clusterView({ ...gateway, services: [wildcard], rules }), noMemo));
    expect(made.map(({ name }) => name)).toEqual([
      "BlackHoleCluster",
      "outbound_.80_._.*.x.example",
      "outbound|80||*.x.example",
    ]);
    expect(made[1]?.json).toMatchObject({ type: "EDS", commonLbConfig: {} });
    expect(made[1]?.json.commonLbConfig).not.toHaveProperty("overrideHostStatus");
  });
});
