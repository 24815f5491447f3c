import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { bootstrapOf, controlPlaneCluster, identityCluster, restSource } from "../../lib/agent/bootstrap.ts";
import { localCluster } from "../../lib/agent/local-cluster.ts";
import { bootstrapFor } from "../../lib/cli/proxy/bootstrap.ts";
import { downwardMap, proxyInFile, proxyOfThisPod } from "../../lib/cli/proxy/bootstrap-node.ts";
import { localClusterName, portolanCluster, sdsCluster } from "../../lib/xds/names.ts";
import { restSource as polledSource } from "../../lib/xds/shape.ts";
import { createAuthority } from "../e2e/certificates.ts";
import { envoyComplaint } from "../e2e/envoy.ts";

const options = {
  nodeId: "sidecar~10.0.0.5~web-0.default~default.svc.cluster.local",
  nodeCluster: "web.default",
  metadata: { NAMESPACE: "default", LABELS: { app: "web" } },
  adminPort: 0,
} as const;

describe("bootstrapOf", () => {
  it.each([
    ["plain, by address", { host: "127.0.0.1", port: 8080 }],
    ["plain, by name", { host: "portolan.example", port: 8080 }],
    ["with a token", { host: "portolan.example", port: 8080, authorizationVariable: "HOME" }],
    ["over TLS", { host: "portolan.example", port: 443, tls: { caFile: "/etc/ssl/certs/ca-certificates.crt" } }],
  ])("is taken by Envoy %s", async (_what, server) => {
    for (const transport of ["rest", "delta", "sotw"] as const)
      expect(await envoyComplaint(bootstrapOf({ ...options, server, transport }))).toBe("");
  });

  it("is taken by Envoy with a limit of connections and a local cluster", async () => {
    const server = { host: "127.0.0.1", port: 8080 };
    const more = { connectionLimit: 1000, hasLocalCluster: true };
    expect(await envoyComplaint(bootstrapOf({ ...options, ...more, server }))).toBe("");
  });

  it("polls as polled resources tell Envoy to", () => {
    expect(restSource()).toEqual(polledSource());
    expect([controlPlaneCluster, identityCluster, localCluster]).toEqual([
      portolanCluster,
      sdsCluster,
      localClusterName,
    ]);
  });
});

describe("a bootstrap for an agent, or for those who watch the proxy", () => {
  it("is taken by Envoy with its listeners, tags and the proxy's own certificate", async () => {
    const folder = await mkdtemp(join(tmpdir(), "portolan-bootstrap-"));
    createAuthority(folder);
    for (const name of ["cds.json", "lds.json"])
      await writeFile(join(folder, name), '{"version_info":"1","resources":[]}');
    const tls = {
      caFile: join(folder, "root.pem"),
      certificateFile: join(folder, "root.pem"),
      keyFile: join(folder, "root-key.pem"),
    };
    const extras = { readinessPort: 15_021, prometheusPort: 15_090, statsTags: true };
    const server = { host: "portolan.example", port: 443, tls };
    for (const transport of ["rest", "delta", "sotw", "files"] as const) {
      const bootstrap = bootstrapOf({ ...options, adminPort: 15_000, server, transport, folder, extras });
      expect(await envoyComplaint(bootstrap)).toBe("");
    }
    await rm(folder, { recursive: true });
  });
});

describe("proxyOfThisPod", () => {
  it("is the node that Istio's agent writes from the same variables and files", async () => {
    const folder = await mkdtemp(join(tmpdir(), "portolan-pod-"));
    await writeFile(join(folder, "labels"), 'app="cart"\npod-template-hash="abc"\nversion="v1"');
    await writeFile(
      join(folder, "annotations"),
      'proxy.istio.io/config="concurrency: 3\\ntracing:\\n  sampling: 10\\n"\nother="x"',
    );
    const environment = {
      POD_NAME: "cart-1",
      POD_NAMESPACE: "shop",
      INSTANCE_IP: "10.1.2.3",
      SERVICE_ACCOUNT: "cart",
      ISTIO_META_CLUSTER_ID: "c1",
      ISTIO_META_INTERCEPTION_MODE: "REDIRECT",
      ISTIO_META_WORKLOAD_NAME: "cart",
      ISTIO_METAJSON_X: '{"EXTRA":"yes"}',
      PROXY_CONFIG: "{}",
    };
    const { value, diagnostics } = await proxyOfThisPod(environment, "sidecar", folder);
    expect(diagnostics).toEqual([]);
    expect(value.node).toMatchObject({
      id: "sidecar~10.1.2.3~cart-1.shop~shop.svc.cluster.local",
      cluster: "cart.shop",
      metadata: {
        CLUSTER_ID: "c1",
        EXTRA: "yes",
        INSTANCE_IPS: "10.1.2.3",
        LABELS: { app: "cart", version: "v1" },
        NAMESPACE: "shop",
        SERVICE_ACCOUNT: "cart",
        PROXY_CONFIG: { concurrency: 3, tracing: { sampling: 10 } },
      },
    });
    expect(value.node.metadata.LABELS).not.toHaveProperty("pod-template-hash");
    const bootstrap = bootstrapFor(value, "http://127.0.0.1:8080", 0);
    expect(await envoyComplaint(bootstrap)).toBe("");
    const file = join(folder, "bootstrap.json");
    await writeFile(file, JSON.stringify(bootstrap));
    expect((await proxyInFile(file)).node).toEqual(JSON.parse(JSON.stringify(value.node)));
    await rm(folder, { recursive: true });
  });

  it("says what is missing where there is no pod", async () => {
    await expect(proxyOfThisPod({}, "sidecar", "/nowhere")).rejects.toThrow(/POD_NAME and POD_NAMESPACE are not set/);
  });

  it.each([
    ['a="b"', { a: "b" }],
    ['a="b=c \\"d\\" \\n\\x41"', { a: 'b=c "d" \nA' }],
    ["a=plain\n\nno line", { a: "plain" }],
  ])("reads %s as the downward API writes it", (text, map) => {
    expect(downwardMap(text)).toEqual(map);
  });
});
