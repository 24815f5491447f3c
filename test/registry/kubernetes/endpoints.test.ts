import { describe, expect, it } from "vitest";
import { buildRegistry } from "../../../lib/registry/build-registry.ts";
import type { KubernetesObject } from "../../../lib/registry/kubernetes/object.ts";
import type { Endpoint } from "../../../lib/registry/service.ts";
import { object, pod, service, serviceEntry, slice, workloadEntry, world } from "../objects.ts";

function endpoints(
  objects: readonly KubernetesObject[],
  key = "shop/cart.shop.svc.cluster.local",
): readonly Endpoint[] {
  return buildRegistry(world(objects)).value.endpoints.get(key) ?? [];
}

const cart = service("shop/cart");

describe("the endpoints of a Kubernetes service", () => {
  it("take labels, identity, workload and mTLS mode from the pod that the slice names", () => {
    const made = endpoints([
      cart,
      pod(
        "shop/cart-1",
        "10.1.0.1",
        { app: "cart", "security.istio.io/tlsMode": "istio" },
        { serviceAccountName: "till" },
      ),
      slice("shop/cart", ["10.1.0.1=cart-1"]),
    ]);
    expect(made).toMatchObject([
      {
        addresses: ["10.1.0.1"],
        port: 8080,
        servicePortName: "http",
        serviceAccount: "spiffe://cluster.local/ns/shop/sa/till",
        tlsMode: "istio",
        workloadName: "cart-1",
        namespace: "shop",
        hasHealth: true,
        labels: { app: "cart", "topology.istio.io/cluster": "Kubernetes" },
      },
    ]);
  });

  it("leave out an address whose pod is not known, say so, and take it once the pod is there", () => {
    const objects = [cart, slice("shop/cart", ["10.1.0.1=cart-1", "10.1.0.2=cart-2"]), pod("shop/cart-2", "10.1.0.2")];
    const { value, diagnostics } = buildRegistry(world(objects));
    expect(value.endpoints.get("shop/cart.shop.svc.cluster.local")?.map(({ addresses }) => addresses[0])).toEqual([
      "10.1.0.2",
    ]);
    expect(diagnostics.map(({ code, severity }) => [code, severity])).toEqual([["endpoint-pod-unknown", "info"]]);
    expect(endpoints([...objects, pod("shop/cart-1", "10.1.0.1")])).toHaveLength(2);
  });

  it("keep an address that names no pod, with nothing known of it", () => {
    expect(endpoints([cart, slice("shop/cart", ["192.0.2.7"])])).toMatchObject([
      { workloadName: "", namespace: "", serviceAccount: "", tlsMode: "disabled", locality: { label: "" } },
    ]);
  });

  it("count an address once for each port name, however many slices hold it", () => {
    const first = slice("shop/cart", ["10.1.0.1"], { name: "one" });
    const second = slice("shop/cart", ["10.1.0.1", "10.1.0.2"], { name: "two" });
    expect(endpoints([cart, first, second]).map(({ addresses }) => addresses[0])).toEqual(["10.1.0.1", "10.1.0.2"]);
  });

  it.each([
    { conditions: {}, labels: {}, want: "Healthy" },
    { conditions: { ready: true, serving: false }, labels: {}, want: "Healthy" },
    { conditions: { ready: false }, labels: {}, want: "Terminating" },
    { conditions: { ready: false, terminating: true }, labels: {}, want: "Terminating" },
    { conditions: { ready: false, terminating: false }, labels: {}, want: "Unhealthy" },
    { conditions: { ready: false }, labels: { "istio.io/persistent-session": "x" }, want: "Draining" },
    {
      conditions: { ready: false, serving: false },
      labels: { "istio.io/persistent-session": "x" },
      want: "Terminating",
    },
    {
      conditions: { ready: false, terminating: false },
      labels: { "istio.io/persistent-session": "x" },
      want: "Unhealthy",
    },
  ])("are $want with $conditions of a service labelled $labels", ({ conditions, labels, want }) => {
    const made = endpoints([service("shop/cart", {}, { labels }), slice("shop/cart", ["10.1.0.1"], { conditions })]);
    expect(made.map(({ health }) => health)).toEqual([want]);
  });

  it("ignore slices of host names and of other clusters' services", () => {
    const named = { ...slice("shop/cart", ["a.example"], { name: "fqdn" }), addressType: "FQDN" };
    const imported = slice("shop/cart", ["10.1.0.1"], { name: "mcs" });
    const labels = { ...Object(imported.metadata.labels), "multicluster.kubernetes.io/service-name": "cart" };
    expect(endpoints([cart, named, { ...imported, metadata: { ...imported.metadata, labels } }])).toEqual([]);
  });

  it.each([
    { labels: { "topology.istio.io/locality": "a.b.c", "istio-locality": "x" }, want: "a/b/c" },
    { labels: { "istio-locality": "r/z.1" }, want: "r/z.1" },
    { labels: {}, want: "region/zone/" },
  ])("are at $want with pod labels $labels", ({ labels, want }) => {
    const made = endpoints([
      object(
        "Node",
        "/n1",
        {},
        {
          labels: {
            "topology.kubernetes.io/region": "region",
            "failure-domain.beta.kubernetes.io/region": "old",
            "failure-domain.beta.kubernetes.io/zone": "zone",
          },
        },
      ),
      cart,
      pod("shop/cart-1", "10.1.0.1", labels, { nodeName: "n1" }),
      slice("shop/cart", ["10.1.0.1=cart-1"]),
    ]);
    expect(made.map(({ locality }) => locality)).toEqual([{ label: want, clusterId: "Kubernetes" }]);
  });

  it.each([
    { pod: "mine", system: "ours", want: "mine" },
    { pod: "", system: "ours", want: "ours" },
    { pod: "", system: "", want: "wide" },
  ])(
    "are in network $want with pod label '$pod' and system namespace label '$system'",
    ({ pod: own, system, want }) => {
      const label = "topology.istio.io/network";
      const { value } = buildRegistry(
        world(
          [
            object("Namespace", "/istio-system", {}, { labels: system === "" ? {} : { [label]: system } }),
            cart,
            pod("shop/cart-1", "10.1.0.1", own === "" ? {} : { [label]: own }),
            slice("shop/cart", ["10.1.0.1=cart-1"]),
          ],
          [],
          {
            meshNetworks: {
              networks: {
                narrow: { endpoints: [{ fromCidr: "10.1.0.0/16" }], gateways: [] },
                wide: { endpoints: [{ fromCidr: "10.0.0.0/8" }], gateways: [] },
              },
            },
          },
        ),
      );
      const [endpoint] = value.endpoints.get("shop/cart.shop.svc.cluster.local") ?? [];
      expect(endpoint?.network).toBe(want);
      expect(endpoint?.labels[label]).toBe(want);
    },
  );

  it.each([
    { kind: "ReplicaSet", name: "cart-5d4f", labels: { "pod-template-hash": "5d4f" }, want: "cart" },
    { kind: "ReplicaSet", name: "cart-5d4f", labels: {}, want: "cart-5d4f" },
    { kind: "StatefulSet", name: "cart", labels: {}, want: "cart" },
    { kind: "Job", name: "nightly-28430000", labels: {}, want: "nightly" },
    { kind: "Job", name: "once", labels: {}, want: "once" },
    { kind: "ReplicaSet", name: "x", labels: { "service.istio.io/workload-name": "said" }, want: "said" },
  ])("of a pod of $kind $name belong to workload $want", ({ kind, name, labels, want }) => {
    const owned = pod("shop/cart-1", "10.1.0.1", labels);
    const metadata = {
      ...owned.metadata,
      generateName: "cart-",
      ownerReferences: [
        { kind: "Other", name: "no" },
        { kind, name, controller: true },
      ],
    };
    const made = endpoints([cart, { ...owned, metadata }, slice("shop/cart", ["10.1.0.1=cart-1"])]);
    expect(made.map(({ workloadName }) => workloadName)).toEqual([want]);
  });

  it("include WorkloadEntries that the selector chooses, without health, at the port that the target means", () => {
    const named = service("shop/cart", { ports: [{ name: "http", port: 80, targetPort: "web" }] });
    const configs = [
      workloadEntry("shop/vm-1", { address: "10.5.0.1", labels: { app: "cart" }, ports: { web: 9000 } }),
      workloadEntry("shop/vm-2", { address: "10.5.0.2", labels: { app: "cart" } }),
      workloadEntry("shop/vm-3", { address: "vm.example", labels: { app: "cart" }, ports: { web: 1 } }),
      workloadEntry("other/vm-4", { address: "10.5.0.4", labels: { app: "cart" }, ports: { web: 1 } }),
    ];
    const { value } = buildRegistry(world([named], configs));
    expect(value.endpoints.get("shop/cart.shop.svc.cluster.local")).toMatchObject([
      { addresses: ["10.5.0.1"], port: 9000, servicePortName: "http", hasHealth: false, workloadName: "vm-1" },
    ]);
  });

  it("come after those of a ServiceEntry for the same host", () => {
    const entry = serviceEntry("shop/more", {
      hosts: ["cart.shop.svc.cluster.local"],
      resolution: "STATIC",
      ports: [{ number: 80, name: "http", protocol: "HTTP" }],
      endpoints: [{ address: "10.9.0.1" }],
    });
    const { value } = buildRegistry(world([cart, slice("shop/cart", ["10.1.0.1"])], [entry]));
    const made = value.endpoints.get("shop/cart.shop.svc.cluster.local");
    expect(made?.map(({ addresses }) => addresses[0])).toEqual(["10.9.0.1", "10.1.0.1"]);
  });
});

describe("discovery selectors", () => {
  it("leave out what is in namespaces that none of them selects", () => {
    const objects = [
      object("Namespace", "/shop", {}, { labels: { mesh: "in" } }),
      object("Namespace", "/lab", {}, { labels: { mesh: "out" } }),
      cart,
      service("lab/rat"),
    ];
    const input = world(objects);
    const discoverySelectors = [{ matchExpressions: [{ key: "mesh", operator: "In", values: ["in"] }] }];
    const { value } = buildRegistry({ ...input, meshConfig: { ...input.meshConfig, discoverySelectors } });
    expect(value.services.map(({ hostname }) => hostname)).toEqual(["cart.shop.svc.cluster.local"]);
  });
});
