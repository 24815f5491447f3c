import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bootstrapOf } from "../../lib/agent/bootstrap.ts";
import { shortLists } from "../../lib/base/proxy-build.ts";
import { type Bookshop, openBookshop } from "./bookshop.ts";
import { startDev } from "./dev-process.ts";
import { startEnvoy } from "./envoy.ts";

const closing: (() => unknown)[] = [];
let shop: Bookshop;
let url = "";

/** Everybody who does not say otherwise is Istio's own proxy here, so that a stock Envoy has only its extensions to be known by. */
beforeAll(async () => {
  shop = await openBookshop();
  await writeFile(join(shop.folder, "portolan.yaml"), "proxyBuild: istio\n");
  await writeFile(join(shop.folder, "mesh.yaml"), "defaultProviders: {metrics: [prometheus]}\n");
  const dev = await startDev(shop.folder, ["--certificates", "none"]);
  ({ url } = dev);
  closing.push(dev.stop, shop.close);
});

afterAll(async () => {
  for (const close of closing) await close();
});

const nodeOf = (app: string, pod = `${app}-0`) => ({
  id: `sidecar~10.9.9.9~${pod}.bookshop~bookshop.svc.cluster.local`,
  cluster: `${app}.bookshop`,
  metadata: { NAMESPACE: "bookshop", LABELS: { app } },
});

interface Extension {
  readonly name: string;
}

async function answer(type: string, extensions: readonly Extension[]): Promise<string> {
  const response = await fetch(`${url}/v3/discovery:${type}`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-envoy-expected-rq-timeout-ms": "30000" },
    body: JSON.stringify({ node: { ...nodeOf("reviews"), extensions } }),
  });
  expect(response.status).toBe(200);
  return response.text();
}

async function extensionsOfStock(): Promise<readonly Extension[]> {
  const file = new URL("../captured/envoy/1.40.0/cds.first.raw.json", import.meta.url);
  return JSON.parse(JSON.parse(await readFile(file, "utf8")).body_raw).node.extensions;
}

describe("a mesh of Istio's own proxies and of stock Envoys", () => {
  it("sends Istio's filters to who has them, and to nobody else, whoever asks first", async () => {
    const stock = await extensionsOfStock();
    const ofIstio = [...stock, ...JSON.parse(shortLists.istio)];
    for (const extensions of [ofIstio, stock, ofIstio]) {
      const texts = [await answer("clusters", extensions), await answer("listeners", extensions)];
      const has = (filter: string) => texts.map((text) => text.includes(`"${filter}"`));
      const isIstio = extensions === ofIstio;
      expect([has("istio.metadata_exchange"), has("istio.alpn"), has("istio.stats")]).toEqual([
        [isIstio, isIstio],
        [false, isIstio],
        [false, isIstio],
      ]);
    }
  });

  it("is taken by a real stock Envoy, which has none of them", async () => {
    const { id, cluster, metadata } = nodeOf("reviews", "reviews-1");
    const envoy = await startEnvoy(
      bootstrapOf({
        nodeId: id,
        nodeCluster: cluster,
        metadata,
        server: { host: "127.0.0.1", port: Number(new URL(url).port) },
        hasIdentity: false,
        adminPort: 0,
      }),
    );
    closing.unshift(envoy.stop);
    const stats = ["cluster_manager.cds.update_success", "listener_manager.lds.update_success"] as const;
    for (const name of stats) expect(Number(await envoy.stat(name)), name).toBeGreaterThan(0);
    for (const name of ["cluster_manager.cds.update_rejected", "listener_manager.lds.update_rejected"])
      expect(Number(await envoy.stat(name)), name).toBe(0);
  });
});
