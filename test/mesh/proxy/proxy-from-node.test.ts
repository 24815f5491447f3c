import { describe, expect, it } from "vitest";
import { defaultMeshConfig } from "../../../lib/config/kinds/mesh-config.ts";
import { type EnvoyNode, proxyOf } from "../../../lib/mesh/proxy/proxy-from-node.ts";
import type { Workload } from "../../../lib/registry/service.ts";
import { world } from "../parts.ts";

const { registry } = world({});
const read = (node: EnvoyNode) => proxyOf(node, registry, defaultMeshConfig);

describe("a node id", () => {
  it.each([
    { id: "sidecar~10.1.1.1~p.ns1~ns1.svc.cluster.local", addresses: ["10.1.1.1"], namespace: "ns1" },
    {
      id: "sidecar~10.1.1.1~p.ns1~ns1.svc.cluster.local",
      metadata: { NAMESPACE: "other" },
      addresses: ["10.1.1.1"],
      namespace: "other",
    },
    {
      id: "sidecar~~p.ns1~ns1.svc.cluster.local",
      metadata: { INSTANCE_IPS: "10.0.0.1,fd00::1" },
      addresses: ["10.0.0.1", "fd00::1"],
      namespace: "ns1",
    },
    { id: "router~10.1.1.1~p~local", addresses: ["10.1.1.1"], namespace: "" },
    {
      id: "router~10.1.1.1~p~a.b",
      metadata: { INSTANCE_IPS: "10.0.0.1,nonsense" },
      addresses: ["10.1.1.1"],
      namespace: "a",
    },
  ])("$id is of $addresses in $namespace", ({ id, metadata, addresses, namespace }) => {
    const { value } = read({ id, ...(metadata === undefined ? {} : { metadata }) });
    expect(value?.addresses).toEqual(addresses);
    expect(value?.namespace).toBe(namespace);
  });

  it.each(["sidecar~~p.ns1~d", "ingress~10.1.1.1~p~d", "router~10.1.1.1~p", "a~b~c~d~e", ""])(
    "'%s' is refused with a reason",
    (id) => {
      const { value, diagnostics } = read({ id });
      expect(value).toBeUndefined();
      expect(diagnostics.map(({ code, severity }) => [code, severity])).toEqual([["node-id-invalid", "error"]]);
    },
  );
});

describe("what a registry knows of the workload", () => {
  const pod: Workload = {
    kind: "Pod",
    name: "p",
    namespace: "ns1",
    clusterId: "Kubernetes",
    addresses: ["10.1.1.1"],
    labels: { app: "known" },
    annotations: {},
    serviceAccount: "account",
    locality: "r1/z1",
    network: "",
    nodeName: "node-1",
    ready: true,
    origin: { key: { group: "", kind: "Pod", name: "p", namespace: "ns1" }, file: "", line: 0 },
  };
  const node: EnvoyNode = {
    id: "sidecar~10.1.1.1~p.ns1~ns1.svc.cluster.local",
    metadata: { LABELS: { app: "claimed", own: "1" }, STATIC_LABELS: { app: "static", kept: "1" } },
    locality: { region: "r9" },
  };

  it("replaces what the node says of itself, but for static labels", () => {
    const { value } = proxyOf(node, { ...registry, workload: () => pod }, defaultMeshConfig);
    expect(value?.labels).toMatchObject({ app: "known", kept: "1" });
    expect(value?.labels.own).toBeUndefined();
    expect(value?.locality).toBe("r1/z1");
    expect(value?.serviceAccount).toBe("account");
  });

  it("is what the node says where no registry knows it", () => {
    const { value } = read(node);
    expect(value?.labels).toMatchObject({ app: "claimed", own: "1" });
    expect(value?.locality).toBe("r9");
  });
});

it.each([
  [{ "topology.istio.io/locality": "r.z.s", "istio-locality": "other" }, "r/z/s"],
  [{ "istio-locality": "r.z" }, "r/z"],
  [{ "topology.kubernetes.io/region": "r", "istio-locality": "other" }, "r"],
  [{}, "r9"],
])("is where its labels %j say, else where the node says: %s", (LABELS, want) => {
  const id = "sidecar~10.1.1.1~p.ns1~ns1.svc.cluster.local";
  expect(read({ id, metadata: { LABELS }, locality: { region: "r9" } }).value?.locality).toBe(want);
});

it("takes the name of its Kubernetes node from the metadata, else from a label", () => {
  const id = "sidecar~10.1.1.1~p.ns1~ns1.svc.cluster.local";
  expect(read({ id, metadata: { NODE_NAME: "n1", LABELS: { "kubernetes.io/hostname": "n2" } } }).value?.nodeName).toBe(
    "n1",
  );
  expect(read({ id, metadata: { LABELS: { "kubernetes.io/hostname": "n2" } } }).value?.nodeName).toBe("n2");
});

it("reads booleans and numbers written as texts", () => {
  const metadata = {
    HTTP10: "1",
    DNS_CAPTURE: "true",
    UNPRIVILEGED_POD: "false",
    HTTP_PROXY_PORT: "15080",
    ENVOY_STATUS_PORT: 15021,
  };
  const { value } = read({ id: "sidecar~10.1.1.1~p.ns1~ns1.svc.cluster.local", metadata });
  expect(value?.metadata).toMatchObject({
    http10: true,
    dnsCapture: true,
    unprivilegedPod: false,
    httpProxyPort: 15080,
    statusPort: 15021,
  });
});
