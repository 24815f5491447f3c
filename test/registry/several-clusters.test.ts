import { describe, expect, it } from "vitest";
import { buildRegistry } from "../../lib/registry/build-registry.ts";
import { object, pod, service, slice, world } from "./objects.ts";

const key = "shop/cart.shop.svc.cluster.local";

describe("a service of several clusters", () => {
  const account = (name: string) => ({ "alpha.istio.io/canonical-serviceaccounts": name });
  const input = world([], [], {
    clusters: [
      {
        id: "zulu",
        objects: [
          service("shop/cart", { clusterIP: "10.0.0.1" }, { annotations: account("b") }),
          slice("shop/cart", ["10.1.0.1"]),
        ],
      },
      {
        id: "alpha",
        objects: [
          service(
            "shop/cart",
            { clusterIP: "10.8.0.1", ports: [{ name: "tcp", port: 9 }] },
            { annotations: account("a") },
          ),
          service("shop/only", { clusterIP: "10.8.0.2" }),
          slice("shop/cart", ["10.2.0.1"]),
        ],
      },
    ],
  });
  const state = buildRegistry(input).value;

  it("is one, with the ports of the primary cluster, an address for each, and the accounts of all", () => {
    const cart = state.services.find(({ hostname }) => hostname.startsWith("cart."));
    expect(cart).toMatchObject({
      defaultAddress: "10.0.0.1",
      ports: [{ name: "http", port: 80 }],
      serviceAccounts: ["a", "b"],
    });
    expect([...(cart?.clusterVips ?? [])]).toEqual([
      ["zulu", ["10.0.0.1"]],
      ["alpha", ["10.8.0.1"]],
    ]);
    expect(cart?.origins).toHaveLength(2);
  });

  it("stands alone where only one cluster has it", () => {
    const only = state.services.find(({ hostname }) => hostname.startsWith("only."));
    expect([...(only?.clusterVips ?? [])]).toEqual([["alpha", ["10.8.0.2"]]]);
  });

  it("has the endpoints of all, by cluster id", () => {
    expect(state.endpoints.get(key)?.map(({ locality }) => locality.clusterId)).toEqual(["alpha", "zulu"]);
  });
});

describe("aliases", () => {
  const alias = (name: string, externalName: string, namespace = "shop") =>
    service(`${namespace}/${name}`, { type: "ExternalName", externalName, clusterIP: "" });

  it("are attached to the service that they mean in the end, by namespace and host", () => {
    const { value } = buildRegistry(
      world([
        service("shop/cart"),
        alias("zebra", "cart.shop.svc.cluster.local"),
        alias("again", "zebra.shop.svc.cluster.local"),
        alias("far", "cart.shop.svc.cluster.local", "abroad"),
        alias("away", "api.example"),
      ]),
    );
    const cart = value.services.find(({ hostname }) => hostname.startsWith("cart."));
    expect(cart?.attributes.aliases.map(({ hostname }) => hostname)).toEqual([
      "far.abroad.svc.cluster.local",
      "again.shop.svc.cluster.local",
      "zebra.shop.svc.cluster.local",
    ]);
  });

  it("that go in a circle mean nothing", () => {
    const { value } = buildRegistry(
      world([alias("a", "b.shop.svc.cluster.local"), alias("b", "a.shop.svc.cluster.local")]),
    );
    expect(value.services.flatMap(({ attributes }) => attributes.aliases)).toEqual([]);
  });
});

describe("network gateways", () => {
  const lb = (name: string, labels: Readonly<Record<string, string>>, port = 15443) => ({
    ...service(`istio-system/${name}`, { type: "LoadBalancer", ports: [{ name: "tls", port }] }, { labels }),
    status: { loadBalancer: { ingress: [{ ip: "192.0.2.1" }, { hostname: "gw.example" }] } },
  });

  it("are the external addresses of services labelled with a network, at the port that they state and have", () => {
    const label = "topology.istio.io/network";
    const { value } = buildRegistry(
      world([
        lb("one", { [label]: "north" }),
        lb("two", { [label]: "south", "networking.istio.io/gatewayPort": "443" }, 443),
        lb("without the port", { [label]: "west" }, 443),
        lb("none", {}),
      ]),
    );
    expect(value.networkGateways).toEqual([
      { network: "north", clusterId: "Kubernetes", address: "192.0.2.1", port: 15443 },
      { network: "north", clusterId: "Kubernetes", address: "gw.example", port: 15443 },
      { network: "south", clusterId: "Kubernetes", address: "192.0.2.1", port: 443 },
      { network: "south", clusterId: "Kubernetes", address: "gw.example", port: 443 },
    ]);
  });

  it("are found by the name that MeshNetworks gives for the network of the registry", () => {
    const { value } = buildRegistry(
      world([lb("edge", {})], [], {
        meshNetworks: {
          networks: {
            north: {
              endpoints: [{ fromRegistry: "Kubernetes" }],
              gateways: [{ registryServiceName: "edge.istio-system.svc.cluster.local", port: 15443 }],
            },
            south: {
              endpoints: [{ fromRegistry: "elsewhere" }],
              gateways: [{ registryServiceName: "edge.istio-system.svc.cluster.local", port: 1 }],
            },
          },
        },
      }),
    );
    expect(value.networkGateways.map(({ network, port }) => [network, port])).toEqual([
      ["north", 15443],
      ["north", 15443],
    ]);
  });
});

describe("workloads", () => {
  it("are the live pods by cluster, namespace and name", () => {
    const { value } = buildRegistry(
      world([
        pod("b/two", "10.1.0.2"),
        pod("b/one", "10.1.0.1"),
        pod("a/three", "10.1.0.3"),
        pod("a/done", "10.1.0.4", {}, {}, { phase: "Succeeded" }),
        object("Pod", "a/new", { spec: {}, status: { phase: "Pending" } }),
      ]),
    );
    expect(value.workloads.map(({ namespace, name }) => `${namespace}/${name}`)).toEqual(["a/three", "b/one", "b/two"]);
  });
});
