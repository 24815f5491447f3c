import { describe, expect, it } from "vitest";
import { type Fields, fieldsOf } from "../../lib/base/untyped.ts";
import { proxiesIn } from "../../lib/cli/proxy/bootstrap.ts";
import { defaultMeshConfig } from "../../lib/config/kinds/mesh-config.ts";
import { injectPod } from "../../lib/injection/inject-pod.ts";
import { readInjectionValues } from "../../lib/injection/values.ts";
import { workloadIn } from "../../lib/injection/workloads.ts";

const annotations = {
  "proxy.istio.io/config":
    "concurrency: 2\nproxyMetadata: {ISTIO_META_DNS_CAPTURE: 'true', ISTIO_META_IDLE_TIMEOUT: 30s}",
};

/** A pod of Deployment shop/web, as its cluster has it. */
const podWith = (metadata: object, spec: object): Fields => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: {
    name: "web-7d9f8-x2x4z",
    generateName: "web-7d9f8-",
    namespace: "shop",
    ownerReferences: [{ apiVersion: "apps/v1", kind: "ReplicaSet", name: "web-7d9f8", controller: true }],
    ...metadata,
  },
  spec: { serviceAccountName: "web", nodeName: "node-1", ...spec },
  status: {
    phase: "Running",
    podIP: "10.0.0.7",
    hostIP: "192.168.0.1",
    conditions: [{ type: "Ready", status: "True" }],
  },
});

function nodeOf(pod: Fields): Fields {
  const found = proxiesIn([{ file: "pod.yaml", text: JSON.stringify(pod) }]);
  expect(found).toHaveLength(1);
  return { ...found[0]?.node };
}

function injected(pod: Fields, values: object): Fields {
  const workload = workloadIn(pod, "default");
  if (workload === undefined) throw new Error("no workload");
  return workload.withPod(
    injectPod(workload.pod, {
      values: readInjectionValues(values, "values"),
      meshConfig: defaultMeshConfig,
      layers: { mesh: undefined, namespace: undefined, workload: undefined },
      owner: workload.owner,
      namespace: workload.namespace,
    }),
  );
}

/** Without what injection alone can say, the ports of the containers, and with a variable that is empty as one that is absent. */
function comparable({ metadata, ...node }: Fields): Fields {
  const { POD_PORTS: _ports, ...rest } = fieldsOf(metadata);
  return { ...node, metadata: { ...rest, APP_CONTAINERS: rest.APP_CONTAINERS ?? "" } };
}

describe("the node of an injected pod", () => {
  const labels = { app: "web", version: "v1", "pod-template-hash": "7d9f8", "security.istio.io/tlsMode": "istio" };
  const containers = [{ name: "web", image: "web:1", ports: [{ containerPort: 8080 }] }];
  const spec = { containers };

  it.each([
    ["a sidecar", {}],
    ["a native sidecar", { pilot: { env: { ENABLE_NATIVE_SIDECARS: "true" } } }],
  ])("is what the compiler expects of one that is still to be injected: %s", (_what, values) => {
    const pod = podWith({ labels, annotations }, spec);
    const node = nodeOf(injected(pod, values));
    expect(comparable(node)).toEqual(comparable(nodeOf(pod)));
    expect(node.id).toBe("sidecar~10.0.0.7~web-7d9f8-x2x4z.shop~shop.svc.cluster.local");
    expect(node.metadata).toMatchObject({
      WORKLOAD_NAME: "web",
      OWNER: "kubernetes://apis/apps/v1/namespaces/shop/deployments/web",
      DNS_CAPTURE: "true",
      POD_PORTS: '[{"containerPort":8080}]',
    });
  });

  it("is a gateway's with the gateway's template", () => {
    const gateway = podWith(
      {
        labels: { istio: "ingress", "pod-template-hash": "7d9f8" },
        annotations: { ...annotations, "inject.istio.io/templates": "gateway" },
      },
      { containers: [{ name: "istio-proxy", image: "auto" }] },
    );
    const node = nodeOf(injected(gateway, {}));
    expect(comparable(node)).toEqual(comparable(nodeOf(gateway)));
    expect(node.id).toMatch(/^router~/);
  });

  it("is the same with Portolan's agent", () => {
    const pod = podWith({ labels, annotations }, spec);
    const withAgent = injected(pod, { sidecarInjectorWebhook: { defaultTemplates: ["portolan"] } });
    expect(comparable(nodeOf(withAgent))).toEqual(comparable(nodeOf(pod)));
  });
});
