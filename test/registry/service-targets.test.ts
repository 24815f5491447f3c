import { describe, expect, it } from "vitest";
import { buildRegistry, createRegistryBuilder } from "../../lib/registry/build-registry.ts";
import type { ProxyQuery } from "../../lib/registry/proxy-query.ts";
import { pod, service, serviceEntry, slice, workloadEntry, world } from "./objects.ts";

const proxy: ProxyQuery = {
  id: "cart-1.shop",
  namespace: "shop",
  addresses: ["10.1.0.1"],
  clusterId: "Kubernetes",
  labels: {},
};

function targets(input: Parameters<typeof buildRegistry>[0], of: ProxyQuery = proxy): readonly string[] {
  return buildRegistry(input)
    .value.serviceTargets(of)
    .map(({ service: { hostname }, servicePort, targetPort }) => `${hostname} ${servicePort.name} ${targetPort}`);
}

const named = (name: string): readonly { readonly name: string; readonly containerPort: number }[] => [
  { name, containerPort: 9000 },
];

describe("the services that a proxy's workload backs", () => {
  it("are those that select its pod, oldest first, then by host name", () => {
    const objects = [
      service("shop/a", { selector: { app: "cart" } }, { creationTimestamp: "2024-03-01T00:00:00Z" }),
      service("shop/front", { selector: { app: "cart" } }, { creationTimestamp: "2024-02-01T00:00:00Z" }),
      service("shop/front-admin", { selector: { app: "cart" } }, { creationTimestamp: "2024-02-01T00:00:00Z" }),
      service("shop/unselective", { selector: {} }),
      service("other/b", { selector: { app: "cart" } }),
      pod("shop/cart-1", "10.1.0.1", { app: "cart" }),
    ];
    expect(targets(world(objects))).toEqual([
      "front-admin.shop.svc.cluster.local http 8080",
      "front.shop.svc.cluster.local http 8080",
      "a.shop.svc.cluster.local http 8080",
    ]);
  });

  it("are one list for all pods of a service whose ports mean numbers", () => {
    const pods = ["1", "2", "3"].map((at) => pod(`shop/cart-${at}`, `10.1.0.${at}`, { app: "cart" }));
    const { selectedTargets } = buildRegistry(world([service("shop/cart", {}), ...pods])).value;
    const lists = ["1", "2", "3"].map((at) =>
      selectedTargets.of({ ...proxy, id: `cart-${at}.shop`, addresses: [`10.1.0.${at}`] }),
    );
    expect(lists[0]).toHaveLength(1);
    expect(new Set(lists).size).toBe(1);
  });

  it("find named target ports in containers and in init containers that stay", () => {
    const ports = [
      { name: "one", port: 80, targetPort: "web" },
      { name: "two", port: 81, targetPort: "side" },
      { name: "three", port: 82, targetPort: "setup" },
    ];
    const spec = {
      containers: [{ ports: named("web") }],
      initContainers: [
        { restartPolicy: "Always", ports: [{ name: "side", containerPort: 9001 }] },
        { ports: [{ name: "setup", containerPort: 9002 }] },
      ],
    };
    const objects = [service("shop/cart", { ports }), pod("shop/cart-1", "10.1.0.1", { app: "cart" }, spec)];
    expect(targets(world(objects))).toEqual([
      "cart.shop.svc.cluster.local one 9000",
      "cart.shop.svc.cluster.local two 9001",
    ]);
  });

  it("have one target for each target port and protocol: the first", () => {
    const ports = [
      { name: "http-a", port: 80, targetPort: 8080 },
      { name: "http-b", port: 81, targetPort: 8080 },
      { name: "tcp-c", port: 82, targetPort: 8080 },
    ];
    const objects = [service("shop/cart", { ports }), pod("shop/cart-1", "10.1.0.1", { app: "cart" })];
    expect(targets(world(objects))).toEqual([
      "cart.shop.svc.cluster.local http-a 8080",
      "cart.shop.svc.cluster.local tcp-c 8080",
    ]);
  });

  it("are those whose slices hold its address, where none selects its pod", () => {
    const objects = [
      service("shop/cart", { selector: {} }),
      slice("shop/cart", ["10.1.0.1"], { ports: [{ name: "http", port: 7070 }] }),
      pod("shop/cart-1", "10.1.0.1", { app: "cart" }),
    ];
    expect(targets(world(objects))).toEqual(["cart.shop.svc.cluster.local http 7070"]);
  });

  it("are found by the labels it brings, with numeric target ports, when nobody knows its pod", () => {
    const ports = [
      { name: "http", port: 80, targetPort: 8080 },
      { name: "tcp", port: 81, targetPort: "named" },
    ];
    const unknown = { ...proxy, labels: { app: "cart" } };
    expect(targets(world([service("shop/cart", { ports })]), unknown)).toEqual([
      "cart.shop.svc.cluster.local http 8080",
    ]);
  });

  it("are found by address where its id names no pod", () => {
    const objects = [service("shop/cart"), pod("shop/cart-1", "10.1.0.1", { app: "cart" })];
    expect(targets(world(objects), { ...proxy, id: "elsewhere.shop" })).toHaveLength(1);
  });

  it("are those of its own cluster", () => {
    const objects = [service("shop/cart"), pod("shop/cart-1", "10.1.0.1", { app: "cart" })];
    const input = world([], [], {
      clusters: [
        { id: "one", objects: [] },
        { id: "two", objects },
      ],
    });
    expect(targets(input, { ...proxy, clusterId: "two" })).toHaveLength(1);
    expect(targets(input, { ...proxy, clusterId: "one" })).toEqual([]);
  });

  it("of a WorkloadEntry are the services that select it and the ServiceEntries of its namespace", () => {
    const ports = [{ number: 80, name: "http", protocol: "HTTP", targetPort: 8081 }];
    const entry = (key: string) =>
      serviceEntry(key, {
        hosts: ["vm.example"],
        resolution: "STATIC",
        ports,
        workloadSelector: { labels: { app: "cart" } },
      });
    const configs = [
      workloadEntry("shop/vm", { address: "10.1.0.1", labels: { app: "cart" } }),
      entry("shop/se"),
      entry("other/se"),
    ];
    expect(targets(world([service("shop/cart")], configs))).toEqual([
      "vm.example http 8081",
      "cart.shop.svc.cluster.local http 8080",
    ]);
  });

  it("include a ServiceEntry that names its address", () => {
    const ports = [{ number: 80, name: "http", protocol: "HTTP" }];
    const configs = [
      serviceEntry("shop/se", {
        hosts: ["in.example"],
        resolution: "STATIC",
        ports,
        endpoints: [{ address: "10.1.0.1" }],
      }),
    ];
    expect(targets(world([], configs))).toEqual(["in.example http 80"]);
  });
});

describe("the workload of a proxy", () => {
  it("is its pod, else the WorkloadEntry of its namespace at its address", () => {
    const known = buildRegistry(world([pod("shop/cart-1", "10.1.0.1", { app: "cart" })])).value;
    expect(known.workload(proxy)).toMatchObject({ kind: "Pod", name: "cart-1", labels: { app: "cart" } });
    const vm = workloadEntry(
      "shop/vm",
      { address: "10.1.0.1", labels: { a: "spec", b: "spec" } },
      { labels: { a: "meta" } },
    );
    expect(buildRegistry(world([], [vm])).value.workload(proxy)).toMatchObject({
      kind: "WorkloadEntry",
      labels: { a: "meta", b: "spec" },
    });
    expect(buildRegistry(world([])).value.workload(proxy)).toBeUndefined();
  });
});

describe("what selects workloads", () => {
  const selecting = service("shop/cart", { selector: { app: "cart" } });
  const listed = service("shop/listed", { selector: {} });
  const cart = pod("shop/cart-1", "10.1.0.1", { app: "cart" });
  const loose = pod("shop/loose-1", "10.1.0.9", { app: "loose" });
  const ofLoose: ProxyQuery = { ...proxy, id: "loose-1.shop", addresses: ["10.1.0.9"] };
  const sliceOf = (address: string) => slice("shop/listed", [address]);

  it("stays the same while only slices change, also for whom a slice decides", () => {
    const build = createRegistryBuilder();
    const before = build(world([selecting, listed, cart, loose, sliceOf("10.1.0.9")])).value;
    const after = build(world([selecting, listed, cart, loose, sliceOf("10.1.0.8")])).value;
    expect(after).not.toBe(before);
    expect(after.selectedTargets).toBe(before.selectedTargets);
    expect(after.workloads).toBe(before.workloads);
    expect(after.selectedTargets.of(proxy)).toHaveLength(1);
    expect(after.selectedTargets.of(ofLoose)).toBeUndefined();
    expect([before.serviceTargets(ofLoose).length, after.serviceTargets(ofLoose).length]).toEqual([1, 0]);
  });

  it("is another once a pod, a service or an entry changes", () => {
    const build = createRegistryBuilder();
    const objects = [selecting, listed, cart];
    const first = build(world(objects)).value;
    const withPod = build(world([...objects, loose])).value;
    const withService = build(world([...objects, loose, service("shop/new", { selector: { app: "cart" } })])).value;
    expect(withPod.selectedTargets).not.toBe(first.selectedTargets);
    expect(withPod.workloads).toHaveLength(first.workloads.length + 1);
    expect(withService.selectedTargets).not.toBe(withPod.selectedTargets);
    expect(withService.selectedTargets.of(proxy)).toHaveLength(2);
  });
});
