import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { lambdaMonth, listPrices, machinesMonth, workersMonth } from "../../../lib/cli/cost/prices.ts";
import { type Fleet, useOf, usualFleet } from "../../../lib/cli/cost/use.ts";
import { createRecompiler } from "../../../lib/compile/recompile.ts";
import { writeShard } from "../../../lib/compile/shards/write-shard.ts";
import { createPublisher } from "../../../lib/snapshot/publish.ts";
import { memoryStore } from "../../../lib/storage/memory.ts";
import { foldersFiles } from "../../bench/mesh-folder.ts";
import { syntheticMesh } from "../../bench/synthetic-mesh.ts";
import { nodeOf, pollBody, testFront } from "../../front/fixtures.ts";
import { weightedShop } from "../../integration/weighted-shop.ts";
import { worldOf } from "../../snapshot/worlds.ts";
import { countingStore } from "../../storage/counting-store.ts";

const second = 1_000;

/** Ten proxies for some minutes of a clock that is moved by hand, through a front and a store that are counted. */
async function measured(holdMs: number, changes: number, periodMs: number) {
  const { store, counts } = countingStore(memoryStore());
  const fleet: Fleet = {
    ...usualFleet,
    proxies: 10,
    loops: 1,
    fronts: 1,
    holdMs,
    changes,
    idleCompiles: 0,
    readsPerCompile: 0,
    pollBytes: pollBody("clusters", nodeOf("web")).length,
  };
  const { poll, publish } = testFront({ store, headTtlMs: fleet.headTtlMs, maxHoldMs: holdMs });
  const world = (content: number) => worldOf({ web: { clusters: { a: `${content}` } } });
  await publish(world(0));
  let [requests, bytesOut, news] = [0, 0, 0];
  const startMs = performance.now();
  let ends = false;
  const next = (() => {
    let state = 7;
    return () => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
      return state / 2 ** 32;
    };
  })();
  const proxies = Array.from({ length: fleet.proxies }, async () => {
    let version: string | undefined;
    await vi.advanceTimersByTimeAsync(0);
    await new Promise((resolve) => setTimeout(resolve, next() * fleet.delayMs));
    while (!ends) {
      const body = pollBody("clusters", nodeOf("web"), version === undefined ? {} : { version });
      const headers = { "x-envoy-expected-rq-timeout-ms": String(holdMs + 5 * second) };
      const response = await poll("clusters", body, headers);
      const text = await response.text();
      requests += 1;
      bytesOut += text.length;
      if (response.status === 200) {
        news += 1;
        version = JSON.parse(text).version_info;
      }
      await new Promise((resolve) => setTimeout(resolve, fleet.delayMs * (1 + next())));
    }
  });
  // What was read so far was for the first answers.
  await vi.advanceTimersByTimeAsync(60 * second);
  Object.assign(counts, { reads: 0, writes: 0 });
  [requests, bytesOut, news] = [0, 0, 0];
  const fromMs = performance.now();
  const publisher = createPublisher(store, { pace: { settleMs: 0, retentionMs: 0 } });
  for (let change = 1; change <= changes; change += 1) {
    await vi.advanceTimersByTimeAsync(periodMs / (changes + 1));
    const before = { ...counts };
    await publisher.publish(world(change), await publisher.head());
    // A publish's own reads are the compile function's.
    counts.reads = before.reads;
  }
  await vi.advanceTimersByTimeAsync(periodMs - (performance.now() - fromMs));
  const result = { requests, news, bytesOut, reads: counts.reads, elapsedMs: performance.now() - startMs };
  ends = true;
  await vi.advanceTimersByTimeAsync(holdMs + 10 * second);
  await Promise.all(proxies);
  return {
    ...result,
    use: useOf({ ...fleet, answerBytes: news === 0 ? 0 : bytesOut / news, unchangedBytes: 0 }, periodMs),
  };
}

const within = (share: number, is: number, said: number) => {
  expect(is).toBeGreaterThan(said * (1 - share));
  expect(is).toBeLessThan(said * (1 + share));
};

describe("the formula of what a fleet uses, beside what is counted at a front and its store", () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance", "Date"] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it.each([
    ["answered at once", 0],
    ["held", 20 * second],
  ])("is within a tenth, where polls are %s", async (_how, holdMs) => {
    const { use, requests, news, bytesOut, reads } = await measured(holdMs, 10, 1_200 * second);
    within(0.1, requests, use.requests);
    expect(news).toBe(10 * 10);
    within(0.1, bytesOut, use.bytesOut);
    // The world of this test has fewer parts than a mesh.
    const looks = use.storeReads - 10 * usualFleet.readsPerChange;
    expect(reads).toBeGreaterThan(looks * 0.8);
    expect(reads).toBeLessThan(use.storeReads * 1.1);
  });
});

describe("what a compile reads and writes", () => {
  it("is no more than the formula says, for a change of the sample", async () => {
    const { store, counts } = countingStore(memoryStore());
    const recompile = createRecompiler({ store });
    await writeShard(store, "main", await weightedShop(90));
    await recompile();
    Object.assign(counts, { reads: 0, writes: 0 });
    await writeShard(store, "main", await weightedShop(80));
    await recompile();
    console.log("a change of the sample:", JSON.stringify(counts));
    expect(counts.writes).toBeGreaterThan(3);
    expect(counts.writes).toBeLessThanOrEqual(usualFleet.writesPerChange);
    expect(counts.reads).toBeLessThanOrEqual(usualFleet.readsPerCompile);
  });
});

describe("what a first push writes", () => {
  it("is within a tenth of what the formula says, for a mesh of a hundred services", async () => {
    const services = 100;
    const { store, counts } = countingStore(memoryStore());
    await writeShard(store, "main", foldersFiles(syntheticMesh(services).text));
    await createRecompiler({ store })();
    console.log(`a first push of ${services} services writes ${counts.writes} objects`);
    within(0.1, counts.writes, useOf({ ...usualFleet, proxies: 1, services }).firstWrites);
  });
});

describe("what a month costs", () => {
  const fleet = { ...usualFleet, proxies: 1_000 };

  it("has logs of requests, which cost as much as the requests, only where the platform is let to write them", () => {
    const of = (loggedShare: number, holdMs = 0) => useOf({ ...fleet, loggedShare, holdMs });
    const more = (month: (use: ReturnType<typeof useOf>) => number, holdMs = 0) =>
      month(of(1, holdMs)) - month(of(0, holdMs));
    // Beyond 20 M: 6,912 M log entries × 0.60; 300 bytes of each invocation × 0.50 a GB.
    expect(more((use) => workersMonth(use, listPrices))).toBeCloseTo((6_912 - 20 + 0.015) * 0.6, 0);
    expect(more((use) => lambdaMonth(use, listPrices))).toBeCloseTo(6_912e6 * 300e-9 * 0.5, 0);
    expect(more((use) => workersMonth(use, listPrices), 25_000)).toBeLessThan(240);
    const own = workersMonth(of(0), listPrices) - workersMonth({ ...of(0), logLines: 0 }, listPrices);
    expect(own).toBe(0);
  });

  it("has the writes of a first push", () => {
    const more = useOf({ ...fleet, services: 101_000 }).storeWrites - useOf(fleet).storeWrites;
    expect(more).toBe(100_000 * usualFleet.writesPerService);
  });

  it("follows the lists, worked out here by hand for 1,000 proxies that are answered at once", () => {
    const use = useOf(fleet);
    expect(Math.round(use.requests / 1e6)).toBe(6_912);
    // 5 + 6,902 M × 0.30 + 6,888 M ms × 0.02 + (26 M + …) reads × 0.36
    expect(workersMonth(use, listPrices)).toBeGreaterThan(5 + 6_902 * 0.3 + 6_882 * 0.02);
    expect(workersMonth(use, listPrices)).toBeLessThan(2_300);
    expect(lambdaMonth(use, listPrices)).toBeGreaterThan(6_912 * 0.2 + 6_912e6 * 0.003 * 0.5 * 0.0000133334);
  });

  it("is far less where polls are held, on machines most of all", () => {
    const [polled, held] = [useOf(fleet), useOf({ ...fleet, holdMs: 25_000 })];
    expect(held.requests).toBeLessThan(polled.requests / 10);
    expect(workersMonth(held, listPrices)).toBeLessThan(workersMonth(polled, listPrices) / 5);
    // 4,000 polls that wait for 25 of 26.5 seconds: CPU on Workers, all of the time on Lambda.
    expect(Math.round(held.heldSeconds / 1e6)).toBe(9_781);
    expect(workersMonth(held, listPrices)).toBeGreaterThan((9_781e6 * 0.15 * 0.02) / 1e6);
    expect(lambdaMonth(held, listPrices)).toBeGreaterThan(9_781e6 * 0.5 * 0.0000133334);
    expect(machinesMonth(held, fleet, listPrices)).toBeLessThan(lambdaMonth(polled, listPrices) / 5);
  });
});
