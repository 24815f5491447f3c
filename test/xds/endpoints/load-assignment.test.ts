import { describe, expect, it } from "vitest";
import { noMemo } from "../../../lib/incremental/memo.ts";
import type { Endpoint } from "../../../lib/registry/service.ts";
import { generateEndpoints } from "../../../lib/xds/endpoints/generate-endpoints.ts";
import { allShared, wholeList } from "../../../lib/xds/resource.ts";
import { clustersOf, clusterView, endpoint, type Parts, port, rule, service } from "../world-parts.ts";

const cart = service("cart");
const host = cart.hostname;
const whole = `outbound|80||${host}`;

/** Load assignments by cluster name, as plain JSON. */
function assignments(parts: Parts) {
  const view = clusterView({ services: [cart], ...parts });
  const made = wholeList(generateEndpoints(view.outbound.endpoints, clustersOf(view, noMemo), noMemo));
  return new Map(made.map((resource) => [resource.name, resource.json]));
}

/** A short form of one assignment: locality, priority, weight, and address with weight for each endpoint. */
function short(parts: Parts, name = whole): readonly string[] {
  return (assignments(parts).get(name)?.endpoints ?? []).map((group) => {
    const { region = "", zone = "", subZone = "" } = group.locality ?? {};
    const members = (group.lbEndpoints ?? []).map((each) => {
      const { address = "", portValue = 0 } = each.endpoint?.address?.socketAddress ?? {};
      return `${address}:${portValue}*${each.loadBalancingWeight}`;
    });
    const place = [region, zone, subZone].filter((part) => part !== "").join("/");
    return `${place} p${group.priority ?? 0} w${group.loadBalancingWeight ?? "-"} ${members.join(" ")}`.trim();
  });
}

const behind = (...endpoints: readonly Endpoint[]): Pick<Parts, "endpoints"> => ({ endpoints: { [host]: endpoints } });

describe("an endpoint", () => {
  it("has its health, its workload and the mark of mTLS", () => {
    const pod = endpoint("10.1.0.1", {
      workloadName: "cart-v1-1",
      labels: { app: "cart", version: "v1" },
      weight: 3,
    });
    expect(assignments(behind(pod)).get(whole)).toEqual({
      clusterName: whole,
      endpoints: [
        {
          locality: {},
          loadBalancingWeight: 3,
          lbEndpoints: [
            {
              endpoint: { address: { socketAddress: { address: "10.1.0.1", portValue: 8080 } } },
              healthStatus: "HEALTHY",
              loadBalancingWeight: 3,
              metadata: {
                filterMetadata: {
                  "envoy.transport_socket_match": { tlsMode: "istio" },
                  istio: { workload: "cart-v1-1;default;cart;v1;Kubernetes" },
                },
              },
            },
          ],
        },
      ],
    });
  });

  it.each([
    { labels: {}, want: "w;default;w;;Kubernetes" },
    { labels: { app: "a", "app.kubernetes.io/name": "b" }, want: "w;default;b;;Kubernetes" },
    { labels: { app: "a", "service.istio.io/canonical-name": "c" }, want: "w;default;c;;Kubernetes" },
    { labels: { version: "latest" }, want: "w;default;w;;Kubernetes" },
    { labels: { version: "1", "app.kubernetes.io/version": "2" }, want: "w;default;w;2;Kubernetes" },
  ])("with labels $labels is reported as $want", ({ labels, want }) => {
    const json = assignments(behind(endpoint("10.1.0.1", { labels }))).get(whole);
    const metadata = json?.endpoints?.[0]?.lbEndpoints?.[0]?.metadata?.filterMetadata;
    expect(metadata).toMatchObject({ istio: { workload: want } });
  });

  it("without a registry that knows readiness has no health", () => {
    const json = assignments(behind(endpoint("10.1.0.1", { hasHealth: false }))).get(whole);
    expect(json?.endpoints?.[0]?.lbEndpoints?.[0]).not.toHaveProperty("healthStatus");
  });

  it("on a unix socket has a pipe", () => {
    const socket = endpoint("", { addresses: [], unixPath: "/run/a.sock", port: 0 });
    const json = assignments(behind(socket)).get(whole);
    expect(json?.endpoints?.[0]?.lbEndpoints?.[0]?.endpoint?.address).toEqual({ pipe: { path: "/run/a.sock" } });
  });
});

describe("selection", () => {
  const pod = endpoint("10.1.0.1");
  const here = "10.1.0.1:8080*1";

  it.each([
    { what: "another port", pod: endpoint("10.1.0.1", { servicePortName: "grpc" }), sent: false },
    { what: "a host name instead of an address", pod: endpoint("db.example.com"), sent: false },
    { what: "unready", pod: endpoint("10.1.0.1", { health: "Unhealthy" }), sent: false },
    { what: "draining", pod: endpoint("10.1.0.1", { health: "Draining" }), sent: false },
    { what: "labelled as draining", pod: endpoint("10.1.0.1", { labels: { "istio.io/draining": "t" } }), sent: false },
    { what: "terminating", pod: endpoint("10.1.0.1", { health: "Terminating" }), sent: false },
    { what: "without an address", pod: endpoint("", { addresses: [] }), sent: false },
    { what: "at an IPv6 address", pod: endpoint("2001:db8::1"), sent: true },
  ])("sends an endpoint that is $what: $sent", ({ pod: candidate, sent }) => {
    expect(short(behind(candidate))).toHaveLength(sent ? 1 : 0);
  });

  it("says so when nothing is left", () => {
    expect(assignments({}).get(whole)).toEqual({ clusterName: whole });
  });

  it("sends unready endpoints of a service with a traffic distribution, never terminating ones", () => {
    const near = service("cart", { attributes: { trafficDistribution: "PreferSameZone" } });
    const unready = endpoint("10.1.0.2", { health: "Unhealthy" });
    const gone = endpoint("10.1.0.3", { health: "Terminating" });
    expect(short({ services: [near], ...behind(pod, unready, gone) })).toEqual([
      ` p0 w2 ${here} 10.1.0.2:8080*1`.trim(),
    ]);
  });

  it("keeps draining endpoints of a service with sessions, and says that they drain", () => {
    const sticky = service("cart", { attributes: { labels: { "istio.io/persistent-session": "cookie" } } });
    const draining = endpoint("10.1.0.1", { health: "Draining" });
    const json = assignments({ services: [sticky], ...behind(draining) }).get(whole);
    expect(json?.endpoints?.[0]?.lbEndpoints?.[0]?.healthStatus).toBe("DRAINING");
  });

  it("stays on the node for a node-local service, and in the cluster for a cluster-local one", () => {
    const local = service("cart", { attributes: { nodeLocal: true } });
    const other = endpoint("10.1.0.2", { nodeName: "n2" });
    const same = endpoint("10.1.0.1", { nodeName: "n1" });
    expect(short({ services: [local], perspective: { nodeName: "n1" }, ...behind(same, other) })).toEqual([
      `p0 w1 ${here}`,
    ]);
    const remote = endpoint("10.2.0.1", { locality: { label: "", clusterId: "two" } });
    expect(short({ clusterLocal: true, ...behind(pod, remote) })).toEqual([`p0 w1 ${here}`]);
  });

  it("takes the endpoints of a subset that have all its labels", () => {
    const v1 = endpoint("10.1.0.1", { labels: { version: "v1", tier: "gold" } });
    const v2 = endpoint("10.1.0.2", { labels: { version: "v2" } });
    const rules = {
      [host]: rule({ host, subsets: [{ name: "v1", labels: { version: "v1" } }, { name: "all" }] }),
    };
    expect(short({ rules, ...behind(v1, v2) }, `outbound|80|v1|${host}`)).toEqual([`p0 w1 ${here}`]);
    expect(short({ rules, ...behind(v1, v2) }, `outbound|80|all|${host}`)).toEqual([`p0 w2 ${here} 10.1.0.2:8080*1`]);
  });

  it("shows only the networks that a proxy asked for, and endpoints without one", () => {
    const perspective = { networkView: ["n1"] };
    const pods = [
      endpoint("10.1.0.1"),
      endpoint("10.1.0.2", { network: "n1" }),
      endpoint("10.1.0.3", { network: "n2" }),
    ];
    expect(short({ perspective, ...behind(...pods) })).toEqual([`p0 w2 ${here} 10.1.0.2:8080*1`]);
  });
});

describe("the mark of mTLS", () => {
  const pod = endpoint("10.1.0.1");
  const bare = endpoint("10.1.0.1", { tlsMode: "disabled" });
  const marked = (parts: Parts, name = whole): boolean => {
    const json = assignments(parts).get(name)?.endpoints?.[0]?.lbEndpoints?.[0];
    return json?.metadata?.filterMetadata?.["envoy.transport_socket_match"] !== undefined;
  };
  const tls = (mode: "DISABLE" | "SIMPLE" | "ISTIO_MUTUAL") => ({ tls: { mode } });

  it.each([
    { case: "an endpoint with a proxy", parts: behind(pod), want: true },
    { case: "one without", parts: behind(bare), want: false },
    { case: "one whose policy wants plain text", parts: { workloadMode: "DISABLE", ...behind(pod) }, want: false },
    {
      case: "a rule that disables TLS",
      parts: { rules: { [host]: rule({ host, trafficPolicy: tls("DISABLE") }) }, ...behind(pod) },
      want: false,
    },
    {
      case: "a rule for mesh mTLS against a policy for plain text",
      parts: {
        workloadMode: "DISABLE",
        rules: { [host]: rule({ host, trafficPolicy: tls("ISTIO_MUTUAL") }) },
        ...behind(pod),
      },
      want: true,
    },
    {
      case: "a rule for mesh mTLS and an endpoint without proxy",
      parts: { rules: { [host]: rule({ host, trafficPolicy: tls("ISTIO_MUTUAL") }) }, ...behind(bare) },
      want: false,
    },
    {
      case: "a port entry without TLS, which leaves the host's",
      parts: {
        rules: {
          [host]: rule({
            host,
            trafficPolicy: { ...tls("SIMPLE"), portLevelSettings: [{ port: { number: 80 } }] },
          }),
        },
        ...behind(pod),
      },
      want: false,
    },
  ] as const)("for $case: $want", ({ parts, want }) => {
    expect(marked(parts)).toBe(want);
  });

  it("does not come to a subset from its host", () => {
    const rules = { [host]: rule({ host, trafficPolicy: tls("SIMPLE"), subsets: [{ name: "v1" }] }) };
    expect(marked({ rules, ...behind(pod) })).toBe(false);
    expect(marked({ rules, ...behind(pod) }, `outbound|80|v1|${host}`)).toBe(true);
  });
});

describe("localities", () => {
  const pods = behind(
    endpoint("10.9.0.1", { at: "us-1/a" }),
    endpoint("10.1.0.2", { at: "eu-1/b" }),
    endpoint("10.1.0.1", { at: "eu-1/a/x" }),
    endpoint("10.1.0.3", { at: "eu-1/b" }),
  );
  const outlier = { outlierDetection: {} };
  const at = (locality: string): Pick<Parts, "perspective"> => ({ perspective: { locality } });
  const locality = (localityLbSetting: object, policy: object = outlier): Pick<Parts, "rules"> => ({
    rules: { [host]: rule({ host, trafficPolicy: { ...policy, loadBalancer: { localityLbSetting } } }) },
  });

  it("are groups, sorted by their text, as heavy as their endpoints", () => {
    expect(short({ ...at("eu-1/a"), ...pods })).toEqual([
      "eu-1/a/x p0 w1 10.1.0.1:8080*1",
      "eu-1/b p0 w2 10.1.0.2:8080*1 10.1.0.3:8080*1",
      "us-1/a p0 w1 10.9.0.1:8080*1",
    ]);
  });

  it.each([
    { from: "eu-1/a/x", priorities: [0, 1, 2] },
    { from: "eu-1/a/y", priorities: [0, 1, 2] },
    { from: "eu-1/b", priorities: [1, 0, 2] },
    { from: "us-1/b", priorities: [1, 1, 0] },
    { from: "ap-1/a", priorities: [0, 0, 0] },
    { from: "", priorities: [0, 0, 0] },
  ])("fail over by nearness from '$from' once outlier detection is on", ({ from, priorities }) => {
    const rules = { [host]: rule({ host, trafficPolicy: outlier }) };
    const groups = assignments({ rules, ...at(from), ...pods }).get(whole)?.endpoints ?? [];
    expect(groups.map((group) => group.priority ?? 0)).toEqual(priorities);
  });

  it("fail over to the stated region before the others", () => {
    const setting = { failover: [{ from: "ap-1", to: "us-1" }] };
    const groups = assignments({ ...locality(setting), ...at("ap-1/a"), ...pods }).get(whole)?.endpoints ?? [];
    expect(groups.map((group) => group.priority ?? 0)).toEqual([1, 1, 0]);
  });

  it("play no part where the mesh or the rule switches them off", () => {
    const rules = { [host]: rule({ host, trafficPolicy: outlier }) };
    const flat = [0, 0, 0];
    const priorities = (parts: Parts) =>
      (assignments({ ...at("eu-1/a"), ...pods, ...parts }).get(whole)?.endpoints ?? []).map(
        (group) => group.priority ?? 0,
      );
    expect(priorities({ rules, mesh: { localityLbSetting: { enabled: false } } })).toEqual(flat);
    expect(priorities(locality({ enabled: false }))).toEqual(flat);
  });

  it("get the stated shares as weights of groups; a group without one loses its endpoints only", () => {
    const setting = { distribute: [{ from: "eu-1/*", to: { "eu-1/a/*": 80, "eu-1/b": 20 } }] };
    expect(short({ ...locality(setting, {}), ...at("eu-1/a"), ...pods })).toEqual([
      "eu-1/a/x p0 w80 10.1.0.1:8080*1",
      "eu-1/b p0 w20 10.1.0.2:8080*1 10.1.0.3:8080*1",
      "us-1/a p0 w1",
    ]);
    expect(short({ ...locality(setting, {}), ...at("us-1/a"), ...pods })).toEqual(short({ ...at("us-1/a"), ...pods }));
  });

  it("share what a pattern for several of them gets by their weights, the more specific pattern first", () => {
    const setting = { distribute: [{ from: "*", to: { "eu-1/*": 50, "us-1": 40, "eu-1/a/x": 10 } }] };
    const weights = (assignments({ ...locality(setting, {}), ...pods }).get(whole)?.endpoints ?? []).map(
      (group) => group.loadBalancingWeight,
    );
    expect(weights).toEqual([10, 50, 40]);
  });

  it("are split by the labels of failover priorities, and the steps are numbered without gaps", () => {
    const setting = { failoverPriority: ["topology.istio.io/network", "version=v2", "zone"] };
    const labelled = behind(
      endpoint("10.1.0.1", { at: "eu-1", labels: { "topology.istio.io/network": "n1", version: "v2", zone: "a" } }),
      endpoint("10.1.0.2", { at: "eu-1", labels: { "topology.istio.io/network": "n1", version: "v1", zone: "a" } }),
      endpoint("10.1.0.3", { at: "eu-1", labels: { "topology.istio.io/network": "n2", version: "v2", zone: "a" } }),
    );
    const perspective = { failoverLabels: { "topology.istio.io/network": "n1", version: "v1", zone: "a" } };
    expect(short({ ...locality(setting), perspective, ...labelled })).toEqual([
      "eu-1 p0 w1 10.1.0.1:8080*1",
      "eu-1 p1 w1 10.1.0.2:8080*1",
      "eu-1 p2 w1 10.1.0.3:8080*1",
    ]);
  });

  it("follow a service's traffic distribution without outlier detection", () => {
    const near = service("cart", { attributes: { trafficDistribution: "PreferSameNode" } });
    const node = "kubernetes.io/hostname";
    const spread = behind(
      endpoint("10.1.0.1", { labels: { [node]: "n1" } }),
      endpoint("10.1.0.2", { labels: { [node]: "n2" } }),
    );
    expect(short({ services: [near], perspective: { failoverLabels: { [node]: "n1" } }, ...spread })).toEqual([
      "p0 w1 10.1.0.1:8080*1",
      "p1 w1 10.1.0.2:8080*1",
    ]);
  });
});

describe("networks", () => {
  const gateway = (network: string, address: string, clusterId = "") => ({ network, clusterId, address, port: 15443 });
  const n1 = gateway("net1", "198.51.100.4");
  const n2 = gateway("net2", "203.0.113.9");
  const pods = behind(
    endpoint("10.1.0.1", { at: "eu/a", network: "net1" }),
    endpoint("10.1.0.2", { at: "eu/b", network: "net1" }),
    endpoint("10.9.0.1", { at: "us/a", network: "net2" }),
  );
  const rules = { [host]: rule({ host, trafficPolicy: { outlierDetection: {} } }) };

  it.each([
    {
      who: "net1, eu/a",
      perspective: { network: "net1", locality: "eu/a" },
      want: ["eu/a p0 w1 10.1.0.1:8080*1", "eu/b p1 w1 10.1.0.2:8080*1", "us/a p2 w1 203.0.113.9:15443*1"],
    },
    {
      who: "net2, us/a",
      perspective: { network: "net2", locality: "us/a" },
      want: ["eu/a p1 w1 198.51.100.4:15443*1", "eu/b p1 w1 198.51.100.4:15443*1", "us/a p0 w1 10.9.0.1:8080*1"],
    },
    {
      who: "no network",
      perspective: { network: "", locality: "us/a" },
      want: ["eu/a p1 w1 198.51.100.4:15443*1", "eu/b p1 w1 198.51.100.4:15443*1", "us/a p0 w1 203.0.113.9:15443*1"],
    },
  ])("are reached through their gateways from $who", ({ perspective, want }) => {
    expect(short({ gateways: [n1, n2], rules, perspective, ...pods })).toEqual(want);
  });

  it("leave out sockets, and only where there are gateways", () => {
    const socket = behind(endpoint("", { addresses: [], unixPath: "/run/a.sock", port: 0 }));
    expect(short({ gateways: [n1], perspective: { network: "net1" }, ...socket })).toEqual(["p0 w-"]);
    expect(short({ perspective: { network: "net1" }, ...socket })).toEqual(["p0 w1 :0*1"]);
  });

  it("without a gateway are reached directly", () => {
    expect(short({ gateways: [n1], perspective: { network: "net1" }, ...pods })[2]).toBe("us/a p0 w1 10.9.0.1:8080*1");
  });

  it("scale all weights so that several gateways share evenly", () => {
    const remote = behind(
      endpoint("10.1.0.1", { network: "net1" }),
      ...["10.9.0.1", "10.9.0.2", "10.9.0.3"].map((address) => endpoint(address, { network: "net2" })),
    );
    const gateways = [n2, gateway("net2", "203.0.113.1")];
    expect(short({ gateways, perspective: { network: "net1" }, ...remote })).toEqual([
      "p0 w8 10.1.0.1:8080*2 203.0.113.1:15443*3 203.0.113.9:15443*3",
    ]);
  });

  it("are reached by mTLS only: endpoints without it are out of reach", () => {
    const plain = behind(endpoint("10.9.0.1", { network: "net2", tlsMode: "disabled" }));
    expect(short({ gateways: [n2], perspective: { network: "net1" }, ...plain })).toEqual(["p0 w-"]);
  });

  it("are entered at the gateways of the endpoint's cluster first, and at addresses that the proxy can reach", () => {
    const remote = behind(endpoint("10.9.0.1", { network: "net2", locality: { label: "", clusterId: "two" } }));
    const own = gateway("net2", "203.0.113.2", "two");
    const six = gateway("net2", "2001:db8::9", "two");
    const perspective = { network: "net1", ipMode: "IPv4" } as const;
    expect(short({ gateways: [n2, own, six], perspective, ...remote })[0]).toContain("203.0.113.2:15443");
    expect(short({ gateways: [six], perspective, ...remote })).toEqual(["p0 w-"]);
  });
});

describe("clusters of an SNI-routing gateway", () => {
  it("keep mTLS endpoints only", () => {
    const view = clusterView({
      services: [cart],
      proxy: { type: "router" },
      ...behind(endpoint("10.1.0.1"), endpoint("10.1.0.2", { tlsMode: "disabled" })),
    });
    const name = `outbound_.80_._.${host}`;
    const cluster = { name, json: { name, type: "EDS", edsClusterConfig: { serviceName: name } }, from: [] } as const;
    const [made] = generateEndpoints(view.outbound.endpoints, allShared([cluster]), noMemo).shared;
    expect(made?.json.endpoints?.[0]?.lbEndpoints).toHaveLength(1);
  });
});

describe("an EDS cluster of an unknown service or port", () => {
  it.each(["outbound|80||nobody.example", `outbound|81||${host}`, "custom"])("gets an empty answer: %s", (name) => {
    const view = clusterView({ services: [cart], ...behind(endpoint("10.1.0.1")) });
    const cluster = { name, json: { name, type: "EDS" }, from: [] } as const;
    expect(generateEndpoints(view.outbound.endpoints, allShared([cluster]), noMemo).shared[0]?.json).toEqual({
      clusterName: name,
    });
  });
});

describe("ports of one number", () => {
  it("are joined to ServiceEntry endpoints by number, whatever their names", () => {
    const entry = service("cart", { ports: [port("http", 80, "HTTP"), port("http", 81, "HTTP")] });
    const pods = behind(
      endpoint("10.1.0.1", { servicePortNumber: 80 }),
      endpoint("10.1.0.2", { servicePortNumber: 81 }),
    );
    expect(short({ services: [entry], ...pods }, `outbound|81||${host}`)).toEqual(["p0 w1 10.1.0.2:8080*1"]);
  });
});
