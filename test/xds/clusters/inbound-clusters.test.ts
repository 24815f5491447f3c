import { describe, expect, it } from "vitest";
import type { ClusterJson } from "../../../gen/envoy/config/cluster/v3/cluster_pb.ts";
import { defaultProxyConfig } from "../../../lib/config/kinds/mesh-config.ts";
import type { Sidecar } from "../../../lib/config/kinds/sidecar.ts";
import { noMemo } from "../../../lib/incremental/memo.ts";
import type { Service } from "../../../lib/registry/service.ts";
import { readDefaultEndpoint } from "../../../lib/xds/clusters/inbound-endpoint.ts";
import { wholeList } from "../../../lib/xds/resource.ts";
import { clustersOf, clusterView, type Parts, port, rule, service } from "../world-parts.ts";

const cart = service("cart");

function clusters(parts: Parts): ReadonlyMap<string, ClusterJson> {
  const made = wholeList(clustersOf(clusterView(parts), noMemo));
  return new Map(made.map((resource) => [resource.name, resource.json]));
}

const target = (of: Service, targetPort: number, servicePort = of.ports[0]) => {
  if (servicePort === undefined) throw new Error("a service without ports");
  return { service: of, servicePort, targetPort };
};

const sidecar = (spec: Sidecar): Pick<Parts, "sidecar"> => {
  const key = { group: "networking.istio.io", kind: "Sidecar", name: "s", namespace: "default" };
  const meta = {
    ...key,
    group: "networking.istio.io",
    version: "v1",
    domain: "cluster.local",
    labels: {},
    annotations: {},
    resourceVersion: "",
    creationTimestampMs: 0,
  };
  return { sidecar: { meta, spec, origin: { key, file: "", line: 0 } } };
};

const max = 4294967295;

describe("the inbound cluster of a port", () => {
  it("leads back to the workload from an address that interception lets through", () => {
    expect(clusters({ inbound: { targets: [target(cart, 8080)] } }).get("inbound|8080||")).toEqual({
      name: "inbound|8080||",
      altStatName: "inbound|8080||;",
      type: "ORIGINAL_DST",
      lbPolicy: "CLUSTER_PROVIDED",
      cleanupInterval: "9223372035s",
      connectTimeout: "10s",
      commonLbConfig: {},
      circuitBreakers: {
        thresholds: [{ maxConnections: max, maxPendingRequests: max, maxRequests: max, maxRetries: max }],
      },
      upstreamBindConfig: { sourceAddress: { address: "127.0.0.6", portValue: 0 } },
      metadata: {
        filterMetadata: {
          istio: { services: [{ host: cart.hostname, name: "cart", namespace: "default" }] },
        },
      },
    });
  });

  it("names all services with the leading one's port, and follows the leading one's protocol", () => {
    const grpc = service("cart-grpc", { ports: [port("grpc", 80, "GRPC")] });
    const other = service("cart-other", { ports: [port("http", 81, "HTTP")] });
    const targets = [target(grpc, 8080), target(cart, 8080), target(other, 8080)];
    const cluster = clusters({ inbound: { targets } }).get("inbound|8080||");
    expect(cluster?.metadata?.filterMetadata?.istio).toMatchObject({
      services: [{ name: "cart-grpc" }, { name: "cart" }],
    });
    expect(JSON.stringify(cluster?.typedExtensionProtocolOptions)).toContain("http2ProtocolOptions");
  });

  it("takes only the connection pool of the service's rule", () => {
    const trafficPolicy = {
      connectionPool: { tcp: { maxConnections: 12, connectTimeout: "1s" } },
      outlierDetection: {},
      tls: { mode: "SIMPLE" },
      loadBalancer: { simple: "RANDOM" },
    } as const;
    const rules = { [cart.hostname]: rule({ host: cart.hostname, trafficPolicy }) };
    const cluster = clusters({ rules, inbound: { targets: [target(cart, 8080)] } }).get("inbound|8080||");
    expect(cluster).toMatchObject({ connectTimeout: "1s", lbPolicy: "CLUSTER_PROVIDED" });
    expect(cluster?.circuitBreakers?.thresholds?.[0]?.maxConnections).toBe(12);
    expect(cluster).not.toHaveProperty("outlierDetection");
    expect(cluster).not.toHaveProperty("transportSocket");
    expect(cluster?.metadata?.filterMetadata?.istio).toHaveProperty("config");
  });

  it("does not mention a rule without a policy", () => {
    const rules = { [cart.hostname]: rule({ host: cart.hostname, subsets: [{ name: "v1" }] }) };
    const cluster = clusters({ rules, inbound: { targets: [target(cart, 8080)] } }).get("inbound|8080||");
    expect(cluster?.metadata?.filterMetadata?.istio).not.toHaveProperty("config");
  });

  it("is not there without interception", () => {
    const proxy = { interceptionMode: "NONE" } as const;
    expect(clusters({ proxy, inbound: { targets: [target(cart, 8080)] } }).has("inbound|8080||")).toBe(false);
  });

  it("goes to the loopback address where the mesh says so", () => {
    const mesh = { inboundTrafficPolicy: { mode: "LOCALHOST" } } as const;
    const cluster = clusters({ mesh, inbound: { targets: [target(cart, 8080)] } }).get("inbound|8080||");
    expect(cluster).toMatchObject({
      type: "STATIC",
      loadAssignment: {
        endpoints: [
          { lbEndpoints: [{ endpoint: { address: { socketAddress: { address: "127.0.0.1", portValue: 8080 } } } }] },
        ],
      },
    });
    expect(cluster).not.toHaveProperty("upstreamBindConfig");
    expect(cluster).not.toHaveProperty("lbPolicy");
  });
});

describe("a Sidecar's ingress listeners", () => {
  const http = { number: 8080, name: "http", protocol: "HTTP" };

  it("take the place of the services' ports, and keep the service whose target they are", () => {
    const spec = { ingress: [{ port: { ...http, number: 9000 } }, { port: http, defaultEndpoint: "127.0.0.1:7000" }] };
    const targets = [target(cart, 8080), target(cart, 8081)];
    const all = clusters({ ...sidecar(spec), inbound: { targets } });
    expect([...all.keys()].filter((name) => name.startsWith("inbound"))).toEqual(["inbound|8080||", "inbound|9000||"]);
    expect(all.get("inbound|8080||")).toMatchObject({ type: "STATIC", metadata: {} });
    expect(all.get("inbound|9000||")).toMatchObject({ type: "ORIGINAL_DST" });
    expect(all.get("inbound|9000||")).not.toHaveProperty("metadata");
  });

  it("bring a connection pool of their own, before the Sidecar's and the rule's", () => {
    const inboundConnectionPool = { tcp: { maxConnections: 2 } };
    const spec = {
      ingress: [{ port: http, connectionPool: { tcp: { maxConnections: 1 } } }, { port: { ...http, number: 81 } }],
      inboundConnectionPool,
    };
    const all = clusters(sidecar(spec));
    const limit = (name: string) => all.get(name)?.circuitBreakers?.thresholds?.[0]?.maxConnections;
    expect([limit("inbound|8080||"), limit("inbound|81||")]).toEqual([1, 2]);
  });
});

describe("readDefaultEndpoint", () => {
  const socket = (kind: string, address: string, portValue: number) => ({
    kind,
    address: { socketAddress: { address, portValue } },
  });

  it.each([
    { text: "", own: ["10.1.1.1"], want: { kind: "original" } },
    { text: ":9000", own: ["10.1.1.1"], want: { kind: "original" } },
    { text: "127.0.0.1:9000", own: ["10.1.1.1"], want: socket("loopback", "127.0.0.1", 9000) },
    { text: "127.0.0.1:9000", own: ["2001:db8::1"], want: socket("loopback", "::1", 9000) },
    { text: "[::1]:9000", own: ["2001:db8::1", "10.1.1.1"], want: socket("loopback", "::1", 9000) },
    { text: "[::1]:9000", own: ["10.1.1.1"], want: socket("loopback", "127.0.0.1", 9000) },
    { text: "0.0.0.0:9000", own: ["2001:db8::1", "10.1.1.1"], want: socket("address", "10.1.1.1", 9000) },
    { text: "0.0.0.0:9000", own: ["2001:db8::1"], want: socket("loopback", "127.0.0.1", 9000) },
    { text: "[::]:9000", own: ["10.1.1.1", "2001:db8::1"], want: socket("address", "2001:db8::1", 9000) },
    { text: "unix:///run/a.sock", own: [], want: { kind: "address", address: { pipe: { path: "/run/a.sock" } } } },
  ])("reads '$text' for a proxy at $own", ({ text, own, want }) => {
    expect(readDefaultEndpoint(text, own)).toEqual(want);
  });
});

describe("built-in clusters", () => {
  it("of a sidecar catch what no service claims, of a gateway only what must go nowhere", () => {
    expect([...clusters({}).keys()]).toEqual(["BlackHoleCluster", "InboundPassthroughCluster", "PassthroughCluster"]);
    expect([...clusters({ proxy: { type: "router" } }).keys()]).toEqual(["BlackHoleCluster"]);
  });

  it.each([
    { ipMode: "IPv4", want: { sourceAddress: { address: "127.0.0.6", portValue: 0 } } },
    { ipMode: "IPv6", want: { sourceAddress: { address: "::6", portValue: 0 } } },
    {
      ipMode: "dual",
      want: {
        sourceAddress: { address: "127.0.0.6", portValue: 0 },
        extraSourceAddresses: [{ address: { address: "::6", portValue: 0 } }],
      },
    },
  ] as const)("bind the inbound one by family: $ipMode", ({ ipMode, want }) => {
    const all = clusters({ proxy: { ipMode } });
    expect(all.get("InboundPassthroughCluster")).toMatchObject({ altStatName: "PassthroughCluster;" });
    expect(all.get("InboundPassthroughCluster")?.upstreamBindConfig).toEqual(want);
  });

  it("keep header case where the proxy is told to", () => {
    const proxy = { proxyConfig: { ...defaultProxyConfig, proxyHeaders: { preserveHttp1HeaderCase: true } } };
    const options = clusters({ proxy }).get("PassthroughCluster")?.typedExtensionProtocolOptions;
    expect(JSON.stringify(options)).toContain("preserve_case");
  });
});
