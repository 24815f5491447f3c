import { describe, expect, it } from "vitest";
import { serviceOf } from "../../../lib/registry/kubernetes/service.ts";
import type { Service } from "../../../lib/registry/service.ts";
import { object, service, settings } from "../objects.ts";

type Fields = Readonly<Record<string, unknown>>;

function convert(spec: Fields, metadata: Fields = {}, more: { status?: Fields; annotations?: Fields } = {}): Service {
  const made = service("shop/cart", spec, { annotations: more.annotations ?? {}, ...metadata });
  const context = { settings, namespaceAnnotations: {}, nodes: new Map() };
  return serviceOf({ ...made, status: more.status ?? {} }, context).service;
}

describe("a Kubernetes service", () => {
  it("is named by name, namespace and domain", () => {
    expect(convert({}).hostname).toBe("cart.shop.svc.cluster.local");
  });

  it.each([
    { spec: { clusterIP: "10.0.0.9" }, resolution: "ClientSideLB", address: "10.0.0.9", external: false },
    { spec: { clusterIP: "None" }, resolution: "Passthrough", address: "0.0.0.0", external: false },
    { spec: { clusterIP: "" }, resolution: "ClientSideLB", address: "0.0.0.0", external: false },
    {
      spec: { clusterIP: "", type: "ExternalName", externalName: "a.example" },
      resolution: "Alias",
      address: "0.0.0.0",
      external: true,
    },
    {
      spec: { clusterIP: "", type: "ExternalName", externalName: "" },
      resolution: "ClientSideLB",
      address: "0.0.0.0",
      external: false,
    },
  ])("with $spec is resolved by $resolution at $address", ({ spec, resolution, address, external }) => {
    const made = convert(spec);
    expect(made).toMatchObject({ resolution, defaultAddress: address, meshExternal: external });
    expect(made.clusterVips.get("Kubernetes")).toEqual([address]);
  });

  it("has all its addresses when there are several", () => {
    const made = convert({ clusterIP: "10.0.0.1", clusterIPs: ["10.0.0.1", "fd00::1"] });
    expect(made.clusterVips.get("Kubernetes")).toEqual(["10.0.0.1", "fd00::1"]);
    expect(made.defaultAddress).toBe("10.0.0.1");
  });

  it("takes accounts from its annotations, cluster accounts as identities of its namespace", () => {
    const annotations = {
      "alpha.istio.io/canonical-serviceaccounts": "spiffe://x/ns/a/sa/b,plain",
      "alpha.istio.io/kubernetes-serviceaccounts": "one, two",
    };
    expect(convert({}, {}, { annotations }).serviceAccounts).toEqual([
      "plain",
      "spiffe://cluster.local/ns/shop/sa/ two",
      "spiffe://cluster.local/ns/shop/sa/one",
      "spiffe://x/ns/a/sa/b",
    ]);
  });

  it("is exported as its annotation says, blanks trimmed", () => {
    const annotations = { "networking.istio.io/exportTo": "., other" };
    expect(convert({}, {}, { annotations }).attributes.exportTo).toEqual([".", "other"]);
    expect(convert({}).attributes.exportTo).toBeUndefined();
  });

  it("is reached from outside at the addresses of its load balancer, then at its external IPs", () => {
    const status = { loadBalancer: { ingress: [{ ip: "192.0.2.1" }, { hostname: "lb.example" }, {}] } };
    const made = convert({ type: "LoadBalancer", externalIPs: ["192.0.2.9"] }, {}, { status });
    expect(made.attributes.clusterExternalAddresses.get("Kubernetes")).toEqual([
      "192.0.2.1",
      "lb.example",
      "192.0.2.9",
    ]);
  });

  it("of type ClusterIP does not read the status of a load balancer", () => {
    const status = { loadBalancer: { ingress: [{ ip: "192.0.2.1" }] } };
    expect(convert({}, {}, { status }).attributes.clusterExternalAddresses.size).toBe(0);
  });

  it("of type NodePort is reached at the external addresses of the nodes that its annotation selects", () => {
    const node = (name: string, pool: string, address: string) => ({
      name,
      labels: { pool },
      locality: "",
      externalAddresses: [address],
    });
    const made = service(
      "shop/cart",
      { type: "NodePort", ports: [{ name: "tls", port: 15443, nodePort: 31443 }] },
      { annotations: { "traffic.istio.io/nodeSelector": '{"pool":"edge"}' } },
    );
    const nodes = new Map([
      ["n2", node("n2", "edge", "192.0.2.2")],
      ["n1", node("n1", "edge", "192.0.2.1")],
      ["n3", node("n3", "core", "192.0.2.3")],
    ]);
    const { attributes } = serviceOf(made, { settings, namespaceAnnotations: {}, nodes }).service;
    expect(attributes.clusterExternalAddresses.get("Kubernetes")).toEqual(["192.0.2.1", "192.0.2.2"]);
    expect(attributes.clusterExternalPorts.get("Kubernetes")?.get(15443)).toBe(31443);
  });

  it("prefers the field for its traffic distribution, then its annotation, then its namespace's", () => {
    const annotation = "networking.istio.io/traffic-distribution";
    const of = (spec: Fields, own: Fields, namespaceAnnotations: Record<string, string>) =>
      serviceOf(service("shop/cart", spec, { annotations: own }), { settings, namespaceAnnotations, nodes: new Map() })
        .service.attributes.trafficDistribution;
    expect(of({ trafficDistribution: "PreferClose" }, { [annotation]: "PreferSameNode" }, {})).toBe("PreferClose");
    expect(of({}, { [annotation]: "PreferSameNode" }, { [annotation]: "PreferClose" })).toBe("PreferSameNode");
    expect(of({}, {}, { [annotation]: "PreferSameZone" })).toBe("PreferSameZone");
    expect(of({}, {}, {})).toBe("Any");
  });

  it("keeps labels, selector, age, locality of traffic and UDP ports", () => {
    const made = convert(
      {
        internalTrafficPolicy: "Local",
        publishNotReadyAddresses: true,
        ports: [
          { name: "dns", port: 5353, protocol: "UDP" },
          { name: "web", port: 80 },
        ],
      },
      { labels: { a: "b" }, creationTimestamp: "2024-05-01T00:00:00Z" },
    );
    expect(made.attributes).toMatchObject({
      labels: { a: "b" },
      selector: { app: "cart" },
      nodeLocal: true,
      publishNotReadyAddresses: true,
    });
    expect(made.creationTimestampMs).toBe(Date.UTC(2024, 4, 1));
    expect(made.ports.map(({ protocol }) => protocol)).toEqual(["UDP", "Unsupported"]);
  });

  it("survives members of the wrong type", () => {
    const odd = object("Service", "shop/odd", { spec: { ports: "none", selector: [1], clusterIP: 7, clusterIPs: {} } });
    const { service: made } = serviceOf(odd, { settings, namespaceAnnotations: {}, nodes: new Map() });
    expect(made).toMatchObject({ ports: [], defaultAddress: "0.0.0.0", resolution: "ClientSideLB" });
  });
});
