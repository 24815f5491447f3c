import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readFolder } from "../../lib/config/folder/folder.ts";
import {
  type Bookshop,
  openBookshop,
  rejections,
  serverNames,
  shopHost,
  startGateway,
  withWeights,
} from "./bookshop.ts";
import { type Edge, secret, signedPost } from "./edges.ts";
import { eventually, type RunningEnvoy } from "./envoy.ts";
import { failures, startTraffic } from "./traffic.ts";

/**
 * The tests of one way to run Portolan: a signed push reaches a real Envoy without a failed request.
 *
 * @param name of the platform and its store
 */
export function testEdge(name: string, open: () => Promise<Edge>): void {
  describe(`over ${name}`, () => {
    let shop: Bookshop;
    let edge: Edge;
    let envoy: RunningEnvoy;

    async function push(): Promise<Response> {
      return edge.post("/sources/main", JSON.stringify({ files: await readFolder(shop.folder) }));
    }
    const reloads = async () =>
      Number((await envoy.stat(`http.outbound_0.0.0.0_${shop.port};.rds.http.${shop.port}.config_reload`)) ?? 0);

    beforeAll(async () => {
      shop = await openBookshop();
      edge = await open();
      const pushed = await push();
      expect([pushed.status, await pushed.json()]).toMatchObject([200, { kind: "published", generation: 1 }]);
      envoy = await startGateway(edge.platform ?? edge.frontUrl);
    }, 120_000);

    afterAll(async () => {
      await envoy?.stop();
      await edge?.close();
      await shop?.close();
    });

    it("a signed webhook reaches Envoy, and no request fails", async () => {
      const traffic = startTraffic(shop.port, shopHost, "/catalog");
      await new Promise((resolve) => setTimeout(resolve, 2_200));
      const before = await reloads();
      await shop.edit("catalog.yaml", withWeights(0, 100));
      const startMs = performance.now();
      const pushed = await push();
      expect(pushed.status).toBe(200);
      const answeredMs = performance.now() - startMs;
      await eventually(reloads, (count) => count > before);
      const inForceMs = performance.now() - startMs;
      console.log(
        `${name}: webhook answered after ${Math.round(answeredMs)} ms, in force in Envoy after ${Math.round(inForceMs)} ms`,
      );
      traffic.reset();
      await eventually(
        async () => traffic.counts().get("catalog-v2") ?? 0,
        (count) => count > 50,
      );
      await traffic.stop();
      expect(failures(traffic, serverNames)).toEqual(new Map());
      expect(await rejections(envoy)).toEqual([]);
    });

    it("holds the polls of an Envoy that has everything, where it is deployed to", async () => {
      if (edge.holds !== true) return;
      // For clusters, for listeners, and for the one route table.
      await eventually(
        async () => edge.platform?.counts().waiting ?? 0,
        (waiting) => waiting === 3,
        30_000,
      );
    });

    it("is asked for by the name that its platform finds it by", () => {
      const { passed, foreign } = edge.platform?.counts() ?? { passed: 1, foreign: 0 };
      expect([passed > 0, foreign]).toEqual([true, 0]);
    });

    it("answers the v1 API, since the compile function is told to make it", async () => {
      const response = await fetch(`${edge.frontUrl}/v1/registration`);
      expect([response.status, await response.text()]).toEqual([200, expect.stringContaining("catalog.bookshop")]);
    });

    it("bad input gets a reason, and Envoy keeps what it has", async () => {
      const before = await fetch(`${edge.frontUrl}/healthz`).then((response) => response.json());
      const refused = async (status: number, post: Promise<Response>) => {
        const response = await post;
        expect([response.status, await response.json()]).toEqual([
          status,
          expect.objectContaining({ detail: expect.any(String) }),
        ]);
      };
      const hook = "/hooks/recompile";
      const signed = (key: string, atMs: number) => signedPost(key, hook, "", "once", atMs);
      await refused(401, edge.post(hook, "", await signed("another secret", Date.now())));
      await refused(401, edge.post(hook, "", await signed(secret, Date.now() - 600_000)));
      const once = await signed(secret, Date.now());
      expect((await edge.post(hook, "", once)).status).toBe(200);
      await refused(409, edge.post(hook, "", once));
      await refused(401, edge.post("/sources/main", "", once));
      await refused(422, edge.post("/sources/main", '{"files": "none"}'));
      await refused(404, edge.post("/sources/other", '{"files": []}'));
      expect(await fetch(`${edge.frontUrl}/healthz`).then((response) => response.json())).toEqual(before);
      const traffic = startTraffic(shop.port, shopHost, "/catalog");
      await eventually(
        async () => traffic.counts().get("catalog-v2") ?? 0,
        (count) => count > 20,
      );
      await traffic.stop();
      expect([...traffic.counts().keys()]).toEqual(["catalog-v2"]);
    });
  });
}
