import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Bookshop, openBookshop, rejections, startGateway } from "./bookshop.ts";
import { startDev } from "./dev-process.ts";
import type { RunningEnvoy } from "./envoy.ts";
import { saveNewServices } from "./new-services.ts";

const closing: (() => unknown)[] = [];
let shop: Bookshop;
let envoy: RunningEnvoy;

beforeAll(async () => {
  shop = await openBookshop();
  const dev = await startDev(shop.folder, ["--certificates", "none"]);
  envoy = await startGateway(dev.url, { certificates: "none", pollDelayMs: 100 });
  closing.push(envoy.stop, dev.stop, shop.close);
});

afterAll(async () => {
  for (const close of closing) await close();
});

describe("new services with the routes to them, one after the other", () => {
  it("are in force before the time of a switch, and no request fails", async () => {
    const { inForceMs, failures } = await saveNewServices(shop, 12);
    const median = inForceMs.toSorted((a, b) => a - b)[6] ?? Number.NaN;
    console.log(`from save to the first answer over the new route: ${Math.round(median)} ms, median of 12`);
    expect(failures).toEqual(new Map());
    expect(await rejections(envoy)).toEqual([]);
    // What everybody else waits for.
    expect(median).toBeLessThan(2_500);
  }, 120_000);
});
