import { describe, expect, it } from "vitest";
import type { MemoryLimits } from "../../lib/compile/recompile/recompiled.ts";
import { writeShard } from "../../lib/compile/shards/write-shard.ts";
import { createLeasedCompiler } from "../../lib/compile/triggers/leased-compiler.ts";
import { newestRoot, readHead } from "../../lib/snapshot/head/head.ts";
import { createSnapshotReader } from "../../lib/snapshot/reader/snapshot-reader.ts";
import { reachableFrom } from "../../lib/snapshot/upkeep/reachable.ts";
import { memoryStore } from "../../lib/storage/memory.ts";
import { certificate } from "./certificate.ts";

const configMap = (name: string) =>
  JSON.stringify({
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name, namespace: "shop" },
    data: { "ca.crt": certificate },
  });

const workload = (name: string, labels: string) => `apiVersion: v1
kind: Pod
metadata: { name: ${name}, namespace: shop, labels: { ${labels}, security.istio.io/tlsMode: istio } }
spec: { containers: [{ name: app, ports: [{ containerPort: 8443 }] }] }
status: { phase: Running, podIP: 10.0.0.1, podIPs: [{ ip: 10.0.0.1 }], conditions: [{ type: Ready, status: "True" }] }
---
apiVersion: v1
kind: Service
metadata: { name: ${name}, namespace: shop }
spec: { clusterIP: 10.9.0.1, selector: { ${labels} }, ports: [{ name: https, port: 443, targetPort: 8443 }] }
`;

const gateway = `apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: { name: edge, namespace: shop }
spec:
  gatewayClassName: istio
  addresses: [{ type: Hostname, value: edge }]
  tls: { frontend: { default: { validation: { caCertificateRefs: [{ group: "", kind: ConfigMap, name: clients }] } } } }
  listeners: [{ name: https, port: 443, protocol: HTTPS, tls: { certificateRefs: [{ name: pair }] } }]
`;
const rule = `apiVersion: networking.istio.io/v1
kind: DestinationRule
metadata: { name: vault, namespace: shop }
spec:
  host: edge.shop.svc.cluster.local
  trafficPolicy: { tls: { mode: SIMPLE, credentialName: "configmap://shop/servers" } }
`;

const ofCluster = JSON.stringify({
  apiVersion: "certificates.k8s.io/v1alpha1",
  kind: "ClusterTrustBundle",
  metadata: { name: "example.com:clients" },
  spec: { trustBundle: certificate },
});

/**
 * The certificates that a root has of what is written, by the names of their ConfigMaps.
 *
 * @param room as a Worker has it; absent: there is room for all
 */
async function bundlesOf(texts: readonly string[], memoryLimits?: MemoryLimits): Promise<readonly string[]> {
  const store = memoryStore();
  const names = ["clients", "servers", "unnamed"].map(configMap);
  await writeShard(store, "main", [{ file: "shop.yaml", text: [...texts, ...names, ofCluster].join("\n---\n") }]);
  await createLeasedCompiler({ store, pace: { quietMs: 0 }, memoryLimits })();
  const reader = createSnapshotReader(store);
  const head = (await readHead(store))?.head;
  if (head === undefined) throw new Error("something was published");
  const hash = newestRoot(head);
  const { root } = await reader.root(hash);
  if (root.trustBundles === undefined) return [];
  // What is reached is what garbage collection leaves.
  expect(await reachableFrom(reader, hash)).toContain(root.trustBundles);
  return Object.keys(JSON.parse(await reader.text(root.trustBundles)));
}

describe("a root", () => {
  it("has the certificates that a Gateway checks its clients against, and that a rule checks servers against", async () => {
    expect(await bundlesOf([workload("edge", "app: edge"), gateway])).toEqual(["shop/clients"]);
    expect(await bundlesOf([workload("edge", "app: edge"), gateway, rule])).toEqual(["shop/clients", "shop/servers"]);
  });

  it("has those of a ClusterTrustBundle, which a Gateway or a rule names", async () => {
    const named = gateway.replace(
      'group: "", kind: ConfigMap, name: clients',
      'group: certificates.k8s.io, kind: ClusterTrustBundle, name: "example.com:clients"',
    );
    expect(await bundlesOf([workload("edge", "app: edge"), named])).toEqual(["/example.com:clients"]);
    const byRule = rule.replace("configmap://shop/servers", "clustertrustbundle://example.com:clients");
    const texts = [workload("edge", "app: edge"), workload("client", "app: client"), byRule];
    expect(await bundlesOf(texts)).toEqual(["/example.com:clients"]);
  });

  it("has those of all its classes where they are compiled a slice at a time", async () => {
    const texts = [workload("edge", "app: edge"), workload("client", "app: client"), gateway, rule];
    expect(await bundlesOf(texts, { wholeBytes: 1, sliceBytes: 1 })).toEqual(["shop/clients", "shop/servers"]);
  });

  it("has none where nothing names one", async () => {
    expect(await bundlesOf([workload("edge", "app: edge")])).toEqual([]);
  });
});
