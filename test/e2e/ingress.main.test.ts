import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  type Bookshop,
  openBookshop,
  rejections,
  serverNames,
  shopHost,
  startGateway,
  withWeights,
} from "./bookshop.ts";
import { startDev } from "./dev-process.ts";
import { eventually, type RunningEnvoy } from "./envoy.ts";
import { failures, movedTo, startTraffic } from "./traffic.ts";

const closing: (() => unknown)[] = [];
let shop: Bookshop;
let envoy: RunningEnvoy;

beforeAll(async () => {
  shop = await openBookshop();
  const dev = await startDev(shop.folder);
  envoy = await startGateway(dev.url);
  closing.push(envoy.stop, dev.stop, shop.close);
});

afterAll(async () => {
  for (const close of closing) await close();
});

describe("the bookshop's gateway", () => {
  it("leads requests to the three servers, nine in ten of the catalog's to v1", async () => {
    const reviews = startTraffic(shop.port, shopHost, "/reviews");
    const catalog = startTraffic(shop.port, shopHost, "/catalog");
    const total = () => [...catalog.counts().values()].reduce((sum, count) => sum + count, 0);
    await eventually(
      async () => total(),
      (sent) => sent >= 1_000,
      20_000,
    );
    await Promise.all([reviews.stop(), catalog.stop()]);
    expect([...reviews.counts().keys()]).toEqual(["reviews-v1"]);
    expect(failures(catalog, serverNames)).toEqual(new Map());
    // Four standard deviations around a tenth of a thousand.
    const share = (catalog.counts().get("catalog-v2") ?? 0) / total();
    expect(share).toBeGreaterThan(0.06);
    expect(share).toBeLessThan(0.14);
  });

  it("follows a saved weight by itself, within a moment, without a failed request", async () => {
    const stat = `http.outbound_0.0.0.0_${shop.port};.rds.http.${shop.port}.config_reload`;
    const reloads = async () => Number((await envoy.stat(stat)) ?? 0);
    const traffic = startTraffic(shop.port, shopHost, "/catalog");
    const times: number[] = [];
    for (const [v1, v2] of [
      [50, 50],
      [0, 100],
      [90, 10],
      [100, 0],
    ] as const) {
      // Past the delay between polls, so that one is held: a change meets a waiting Envoy.
      await new Promise((resolve) => setTimeout(resolve, 2_200));
      const before = await reloads();
      const startMs = performance.now();
      await shop.edit("catalog.yaml", withWeights(v1, v2));
      await eventually(reloads, (count) => count > before);
      times.push(Math.round(performance.now() - startMs));
    }
    console.log(`from a saved file to the new version in Envoy: ${times.join(", ")} ms`);
    expect(failures(traffic, serverNames)).toEqual(new Map());
    await movedTo(traffic, "catalog-v1");
    await traffic.stop();
    expect([...traffic.counts().keys()]).toEqual(["catalog-v1"]);
    expect(await rejections(envoy)).toEqual([]);
  });

  it("is still served through a file that breaks, and follows when it is mended", async () => {
    const traffic = startTraffic(shop.port, shopHost, "/catalog");
    await shop.edit("catalog.yaml", (text) => `${text}\n: [half a`);
    await new Promise((resolve) => setTimeout(resolve, 2_200));
    expect([...traffic.counts().keys()]).toEqual(["catalog-v1"]);
    await shop.edit("catalog.yaml", (text) => withWeights(0, 100)(text.replace("\n: [half a", "")));
    await eventually(
      async () => traffic.counts().get("catalog-v2") ?? 0,
      (count) => count > 50,
    );
    await traffic.stop();
    expect(failures(traffic, serverNames)).toEqual(new Map());
    expect(await rejections(envoy)).toEqual([]);
  });
});
