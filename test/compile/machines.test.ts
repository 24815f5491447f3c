import { describe, expect, it } from "vitest";
import { census, networking, only } from "./pods/manifests.ts";

/** A machine with an account, which takes mutual TLS: it has a proxy. */
const entry = (spec: object = {}, metadata: object = {}): object =>
  networking("WorkloadEntry", "vm-1", { address: "10.2.0.1", serviceAccount: "vm", ...spec }, metadata);

describe("a WorkloadEntry", () => {
  it("has the proxy that istioctl would set up on its machine", () => {
    const { node, proxy } = only([
      entry({ labels: { app: "db", version: "v3" }, network: "vms", locality: "eu/eu-1/rack", ports: { sql: 5432 } }),
    ]);
    expect(node).toMatchObject({
      id: "sidecar~10.2.0.1~vm-1.shop~shop.svc.cluster.local",
      cluster: "db.shop",
      locality: { region: "eu", zone: "eu-1", subZone: "rack" },
      metadata: {
        CLUSTER_ID: "Kubernetes",
        DNS_CAPTURE: "true",
        INSTANCE_IPS: "10.2.0.1",
        LABELS: {
          app: "db",
          "service.istio.io/canonical-name": "db",
          "service.istio.io/canonical-revision": "v3",
          version: "v3",
        },
        NAMESPACE: "shop",
        NETWORK: "vms",
        SERVICE_ACCOUNT: "vm",
        WORKLOAD_NAME: "vm-1",
      },
    });
    expect(node.metadata).not.toHaveProperty("INTERCEPTION_MODE");
    expect(proxy).toMatchObject({ network: "vms", locality: "eu/eu-1/rack", serviceAccount: "vm" });
    expect(proxy.metadata).toMatchObject({ dnsCapture: true, interceptionMode: "REDIRECT" });
  });

  it("has the settings of the mesh and of its annotation, and no ProxyConfig object's", () => {
    const all = networking("ProxyConfig", "all", { concurrency: 9 });
    const annotations = { "proxy.istio.io/config": "tracing: {sampling: 20}" };
    const mesh = "defaultConfig: {concurrency: 3, proxyMetadata: {ISTIO_META_DNS_CAPTURE: 'false'}}";
    const { settings, proxy } = only([entry({}, { annotations }), all], mesh);
    expect(settings).toMatchObject({ concurrency: 3, tracing: { sampling: 20 } });
    expect(proxy.metadata.dnsCapture).toBe(false);
  });

  it("of a group is the group's workload, with the group's settings below its own", () => {
    const group = networking(
      "WorkloadGroup",
      "db",
      { metadata: { annotations: { "proxy.istio.io/config": "concurrency: 2" } }, template: {} },
      { annotations: { "proxy.istio.io/config": "{concurrency: 1, statusPort: 15999}" } },
    );
    const registered = entry({}, { annotations: { "istio.io/autoRegistrationGroup": "db" } });
    const { node, settings } = only([registered, group]);
    expect(node.cluster).toBe("db.shop");
    expect(node.metadata).toMatchObject({ WORKLOAD_NAME: "db", AUTO_REGISTER_GROUP: "db" });
    expect(settings).toMatchObject({ concurrency: 2, statusPort: 15999, serviceCluster: "db.shop" });
  });

  it("is a gateway if one selects it", () => {
    const servers = [{ port: { number: 80, name: "http", protocol: "HTTP" }, hosts: ["*"] }];
    const gateway = networking("Gateway", "g", { selector: { app: "edge" }, servers });
    const { node, proxy } = only([entry({ labels: { app: "edge" } }), gateway]);
    expect(proxy.type).toBe("router");
    expect(node.id).toBe("router~10.2.0.1~vm-1.shop~shop.svc.cluster.local");
  });

  it("is not blamed for an annotation of its group", () => {
    const annotations = { "proxy.istio.io/config": "concurrency: many" };
    const group = networking("WorkloadGroup", "db", { metadata: { annotations }, template: {} });
    const registered = entry({}, { annotations: { "istio.io/autoRegistrationGroup": "db" } });
    expect(census([registered, group]).diagnostics).toMatchObject([
      {
        code: "pod-annotation-invalid",
        origin: { key: { kind: "WorkloadGroup", name: "db" }, line: 3 },
        path: ["spec", "metadata", "annotations", "proxy.istio.io/config", "concurrency"],
      },
    ]);
  });

  it.each([
    ["says that it has none", entry({ labels: { "security.istio.io/tlsMode": "disabled" } })],
    ["has no address of its own", entry({ address: "db.example.com" })],
  ])("has no proxy if it %s", (_what, object) => {
    expect(census([object])).toEqual({ value: [], diagnostics: [] });
  });

  it("has no proxy if it has no account, which may have been forgotten", () => {
    const { value, diagnostics } = census([entry({ serviceAccount: "" })]);
    expect(value).toEqual([]);
    expect(diagnostics).toMatchObject([{ code: "workload-entry-without-proxy", severity: "info" }]);
  });
});
