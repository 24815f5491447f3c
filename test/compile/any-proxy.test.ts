import { describe, expect, it } from "vitest";
import { project } from "../../lib/base/classifier.ts";
import { createFileCompiler } from "../../lib/compile/compile-files.ts";
import { defaultWorldOptions } from "../../lib/compile/world/world-of.ts";
import { bare, census, filesOf, networking, only } from "./pods/manifests.ts";
import { saidBy } from "./said-by.ts";

const servers = [{ port: { number: 80, name: "http", protocol: "HTTP" }, hosts: ["*"] }];
const gateway = networking("Gateway", "g", { selector: { app: "edge" }, servers });

/** A pod of which nothing says that it has a proxy. */
const plain = (name: string, labels: object, containers: readonly object[] = [{ name: "app" }]) => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name, namespace: "shop", labels },
  spec: { serviceAccountName: name, containers },
  status: { podIP: "10.1.2.9" },
});

describe("a pod of which no label says that it has a proxy", () => {
  it("has one if a Gateway selects it, and is a gateway", () => {
    expect(only([plain("edge-0", { app: "edge" }), gateway]).proxy).toMatchObject({
      type: "router",
      id: "edge-0.shop",
    });
    expect(census([plain("web-0", { app: "web" }), gateway]).value).toEqual([]);
  });

  it("has one if the Ingresses select it", () => {
    const rules = [
      {
        http: { paths: [{ path: "/", pathType: "Prefix", backend: { service: { name: "a", port: { number: 80 } } } }] },
      },
    ];
    const ingress = {
      apiVersion: "networking.k8s.io/v1",
      kind: "Ingress",
      metadata: { name: "i", namespace: "shop" },
      spec: { rules },
    };
    expect(only([plain("edge-0", { istio: "ingressgateway" }), ingress]).proxy.type).toBe("router");
  });

  it.each(["containers", "initContainers"])("has one if its %s have one for injection to fill in", (list) => {
    const pod = plain("web-0", { app: "web" });
    const proxy = { name: "istio-proxy", image: "auto" };
    const spec = list === "containers" ? { containers: [{ name: "app" }, proxy] } : { initContainers: [proxy] };
    expect(only([{ ...pod, spec: { ...pod.spec, ...spec } }]).proxy.type).toBe("sidecar");
  });
});

const namedIn = (text: string, ...objects: readonly object[]) =>
  createFileCompiler(defaultWorldOptions)([...filesOf(objects), { file: "portolan.yaml", text }], []);

describe("a proxy that portolan.yaml names", () => {
  it("is found by an id in any form, with the configuration of its labels", () => {
    const policy = networking("Sidecar", "only-edge", {
      workloadSelector: { labels: { app: "edge" } },
      egress: [{ hosts: ["./*"] }],
    });
    const { value } = namedIn(
      "proxies: [{id: my-node, namespace: shop, labels: {app: edge}}, {id: other, namespace: shop}]",
      policy,
    );
    const classOf = (key: string) => value.nodes.find(({ keys }) => keys.includes(key))?.classId;
    expect(classOf("my-node")).toMatch(/^sidecar-/);
    expect(classOf("my-node.shop")).toBe(classOf("my-node"));
    expect(classOf("other")).not.toBe(classOf("my-node"));
  });

  it("has the type, the address and the metadata of its id and its entry", () => {
    const id = "router~10.0.0.9~edge-0.shop~shop.svc.cluster.local";
    const { value } = namedIn(
      `proxies: [{id: "${id}", labels: {app: edge}, metadata: {ROUTER_MODE: sni-dnat}}]`,
      gateway,
    );
    const node = value.nodes.find(({ keys }) => keys.includes("10.0.0.9"));
    expect(node?.classId).toMatch(/^router-/);
    const claims = {
      id,
      cluster: "",
      metadata: { NAMESPACE: "shop", LABELS: { app: "edge" }, ROUTER_MODE: "sni-dnat" },
      locality: "",
    };
    expect(value.classifier.classes[project(value.classifier, claims) ?? ""]).toBe(node?.classId);
  });

  it.each([
    ["{id: router~10.0.0.9~a.b~b.svc.cluster.local, type: router}", "has type and address itself"],
    ["{id: my-node, addresses: [nowhere]}", "is no IP address"],
    ["{id: my-node, labels: {'a b': c}}", "a b"],
    ["{id: teapot~10.0.0.9~a.b~b.svc.cluster.local}", "has type teapot, which is neither sidecar nor router"],
  ])("is refused as %s", (entry, message) => {
    const diagnostics = saidBy(() => namedIn(`proxies: [${entry}]`, bare("web-0")));
    const found = diagnostics.find((one) => one.message.includes(message));
    expect(found).toMatchObject({ severity: "error", origin: { file: "portolan.yaml", line: 1 } });
  });

  it("takes no name and no address from a workload: another source may name it", () => {
    const folder = [bare("web-0", {}, { app: "web" })];
    const { value: before } = namedIn("{}", ...folder);
    const [workload] = before.nodes;
    const policy = networking("Sidecar", "o", {
      workloadSelector: { labels: { app: "other" } },
      egress: [{ hosts: ["~/*"] }],
    });
    const entries = [
      { id: "sidecar~10.1.2.9~web-0.shop~shop.svc.cluster.local", labels: { app: "other" } },
      { id: "web-0", namespace: "shop", addresses: ["10.1.2.9"], labels: { app: "other" } },
      { id: "web-0.shop", namespace: "shop", labels: { app: "other" }, metadata: { CLUSTER_ID: "east" } },
    ];
    const { value } = namedIn(JSON.stringify({ proxies: entries }), ...folder, policy);
    for (const key of workload?.keys ?? []) {
      const found = value.nodes.filter(({ keys }) => keys.includes(key));
      expect([key, found.map(({ classId }) => classId)]).toEqual([key, [value.nodes[0]?.classId]]);
    }
    expect(workload?.keys).toContain("web-0.shop");
  });

  it("takes no name and no class from a workload where a node has only asked for it", () => {
    const folder = [bare("web-0", {}, { app: "web" })];
    const { value: before } = namedIn("{}", ...folder);
    const asked = { id: "sidecar~10.1.2.9~web-0.shop~shop.svc.cluster.local", wanted: true, labels: { app: "other" } };
    const { value } = namedIn(JSON.stringify({ proxies: [asked] }), ...folder);
    expect(value.nodes).toEqual(before.nodes);
    for (const [projection, classId] of Object.entries(before.classifier.classes))
      expect(value.classifier.classes[projection] ?? classId).toBe(classId);
  });
});
