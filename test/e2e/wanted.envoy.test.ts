import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bootstrapOf } from "../../lib/agent/bootstrap.ts";
import { type Bookshop, openBookshop } from "./bookshop.ts";
import { startDev } from "./dev-process.ts";
import { startEnvoy } from "./envoy.ts";

const closing: (() => unknown)[] = [];
let shop: Bookshop;
let url = "";

/** What only proxies with the label get. */
const own = `
apiVersion: networking.istio.io/v1
kind: Sidecar
metadata: {name: late, namespace: bookshop}
spec:
  workloadSelector: {labels: {app: late}}
  egress: [{hosts: ["bookshop/reviews.bookshop.svc.cluster.local"]}]
`;

const nodeOf = (app: string) => ({
  id: `sidecar~10.9.9.9~${app}-0.bookshop~bookshop.svc.cluster.local`,
  cluster: `${app}.bookshop`,
  metadata: { NAMESPACE: "bookshop", LABELS: { app } },
});

beforeAll(async () => {
  shop = await openBookshop();
  await writeFile(join(shop.folder, "late.yaml"), own);
  const dev = await startDev(shop.folder, ["--certificates", "none"]);
  ({ url } = dev);
  closing.push(dev.stop, shop.close);
});

afterAll(async () => {
  for (const close of closing) await close();
});

const clusters = async (app: string, headers: Readonly<Record<string, string>>) =>
  fetch(`${url}/v3/discovery:clusters`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify({ node: nodeOf(app) }),
  });

describe("an Envoy that no class was compiled for, at `portolan dev`", () => {
  it("has the class of its labels at once, and never what nodes without them get", async () => {
    const startMs = performance.now();
    const response = await clusters("late", { "x-envoy-expected-rq-timeout-ms": "30000" });
    const tookMs = performance.now() - startMs;
    console.log(`from the first poll of a node without a class to the answer of its own: ${Math.round(tookMs)} ms`);
    expect(response.status).toBe(200);
    const text = await response.text();
    expect([text.includes("reviews.bookshop"), text.includes("catalog.bookshop")]).toEqual([true, false]);
    // A second on a machine of one's own.
    expect(tookMs).toBeLessThan(5_000);
  });

  it("starts, a real one", async () => {
    const { host, port } = { host: "127.0.0.1", port: Number(new URL(url).port) };
    const { id, cluster, metadata } = nodeOf("another");
    const envoy = await startEnvoy(
      bootstrapOf({
        nodeId: id,
        nodeCluster: cluster,
        metadata,
        server: { host, port },
        hasIdentity: false,
        adminPort: 0,
      }),
    );
    closing.unshift(envoy.stop);
    expect(Number(await envoy.stat("cluster_manager.cds.update_success"))).toBeGreaterThan(0);
  });
});
