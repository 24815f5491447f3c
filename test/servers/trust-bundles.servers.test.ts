import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createCollector } from "../../lib/collect/collector.ts";
import { createRecompiler } from "../../lib/compile/recompile.ts";
import { kubernetesOrigin } from "../../lib/registry/kubernetes/api/kubernetes-origin.ts";
import { defaultPace, type Pace } from "../../lib/registry/origin/retry.ts";
import { newestRoot, readHead } from "../../lib/snapshot/head/head.ts";
import { createSnapshotReader } from "../../lib/snapshot/reader/snapshot-reader.ts";
import type { TrustBundles } from "../../lib/snapshot/trust-bundle.ts";
import { memoryStore } from "../../lib/storage/memory.ts";
import { certificate } from "../compile/certificate.ts";
import { eventually } from "../e2e/envoy.ts";
import { type ApiServer, collectorToken, createObject, openApiServer } from "./api-server.ts";
import { installGatewayApiKinds, installPlainKinds } from "./custom-resources.ts";
import { manifests } from "./live-shop.ts";
import { hasApiServer } from "./server-binaries.ts";

const beta = ["--runtime-config=certificates.k8s.io/v1beta1=true", "--feature-gates=ClusterTrustBundle=true"];

const configMap = (name: string, text = certificate) => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, namespace: "shop" },
  data: { "ca.crt": text, "other.txt": "left where it is" },
});
const policy = (name: string, ref: object) => ({
  apiVersion: "gateway.networking.k8s.io/v1",
  kind: "BackendTLSPolicy",
  metadata: { name, namespace: "shop" },
  spec: {
    targetRefs: [{ group: "", kind: "Service", name }],
    validation: { hostname: `${name}.example`, caCertificateRefs: [ref] },
  },
});
const service = (name: string) => ({
  apiVersion: "v1",
  kind: "Service",
  metadata: { name, namespace: "shop" },
  spec: { ports: [{ name: "http", port: 80 }] },
});
/** Something that is served clusters for these services. */
const client = {
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "client", namespace: "shop", labels: { "security.istio.io/tlsMode": "istio" } },
  spec: { containers: [{ name: "app", image: "app" }] },
};

/** As usual, but what is named is read again within a moment. */
const soon: Pace = {
  ...defaultPace,
  pause: (milliseconds, signal) => defaultPace.pause(Math.min(milliseconds, 100), signal),
};

describe.skipIf(!hasApiServer())("certificates that objects of a real API server name", () => {
  let server: ApiServer;
  const store = memoryStore();
  const stop = new AbortController();
  let collecting: Promise<void>;
  let collected: () => string;
  const troubles: string[] = [];
  beforeAll(async () => {
    server = await openApiServer(beta);
    await installGatewayApiKinds(server);
    await installPlainKinds(server);
    await server.ask("POST", "/api/v1/namespaces", { metadata: { name: "shop" } });
    for (const manifest of await manifests()) await createObject(server, manifest);
    await createObject(server, client);
    const path = "/api/v1/namespaces/shop/pods/client";
    const pod = await server.ask("GET", path);
    const conditions = [{ type: "Ready", status: "True" }];
    const status = { phase: "Running", podIP: "10.0.0.9", podIPs: [{ ip: "10.0.0.9" }], conditions };
    await server.ask("PUT", `${path}/status`, { ...pod, status });
    for (const name of ["vault", "ledger"]) await createObject(server, service(name));
    for (const name of ["roots", "unnamed"]) await createObject(server, configMap(name));
    // With the rights of infra/kubernetes alone.
    const token = await collectorToken(server);
    const recompile = createRecompiler({ store });
    const origin = kubernetesOrigin(
      { ...server.client, token: async () => token },
      { cluster: "Kubernetes", pace: soon },
    );
    const collector = createCollector({
      store,
      source: "kubernetes",
      origin,
      pushed: async () => void (await recompile()),
      troubled: (reason) => troubles.push(reason),
    });
    collected = () => collector.state().failure;
    collecting = collector.run(stop.signal);
  });
  afterAll(async () => {
    stop.abort();
    await collecting;
    await server.close();
  });

  const bundles = async (): Promise<TrustBundles> => {
    const head = (await readHead(store))?.head;
    if (head === undefined) return {};
    const reader = createSnapshotReader(store);
    const { root } = await reader.root(newestRoot(head));
    return root.trustBundles === undefined ? {} : JSON.parse(await reader.text(root.trustBundles));
  };
  const names = (wanted: readonly string[]) =>
    eventually(
      async () => Object.keys(await bundles()).join(),
      (text) => text === wanted.join(),
      30_000,
    );

  it("are collected where an object names them, and no others", async () => {
    await createObject(server, policy("vault", { group: "", kind: "ConfigMap", name: "roots" }));
    await names(["shop/roots"]);
    const stored = await Promise.all((await keysOf(store)).map(async (key) => store.get(key)));
    const texts = stored.map((one) => (one.kind === "found" ? new TextDecoder().decode(one.bytes) : ""));
    expect(texts.filter((text) => text.includes("left where it is"))).toEqual([]);
    expect(texts.filter((text) => text.includes("ConfigMap/shop/unnamed"))).toEqual([]);
  });

  it("are followed, and go with their object", async () => {
    const path = "/api/v1/namespaces/shop/configmaps/roots";
    await server.ask("PUT", path, configMap("roots", `${certificate}\n# anew\n`));
    await eventually(bundles, (now) => now["shop/roots"]?.ca.includes("anew") === true, 30_000);
    await server.ask("DELETE", path);
    await names([]);
    await createObject(server, configMap("roots"));
    await names(["shop/roots"]);
  });

  it("may be a ClusterTrustBundle", async () => {
    const ref = { group: "certificates.k8s.io", kind: "ClusterTrustBundle", name: "example-roots" };
    await createObject(server, policy("ledger", ref));
    const trustBundle = certificate;
    await server.ask("POST", "/apis/certificates.k8s.io/v1beta1/clustertrustbundles", {
      apiVersion: "certificates.k8s.io/v1beta1",
      kind: "ClusterTrustBundle",
      metadata: { name: "example-roots" },
      spec: { trustBundle },
    });
    await names(["/example-roots", "shop/roots"]);
    expect([collected(), troubles.filter((reason) => reason !== "")]).toEqual(["", []]);
  });
});

async function keysOf(store: ReturnType<typeof memoryStore>): Promise<readonly string[]> {
  const keys: string[] = [];
  for await (const { key } of store.list("")) keys.push(key);
  return keys;
}
