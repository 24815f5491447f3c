import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { readHead } from "../../lib/snapshot/head/head.ts";
import { readHistory } from "../../lib/snapshot/head/history/history.ts";
import { createPublisher } from "../../lib/snapshot/publish.ts";
import { createSnapshotReader } from "../../lib/snapshot/reader/snapshot-reader.ts";
import { collectGarbage } from "../../lib/snapshot/upkeep/collect-garbage.ts";
import { fsck } from "../../lib/snapshot/upkeep/fsck.ts";
import { memoryStore } from "../../lib/storage/memory.ts";
import type { ObjectStore } from "../../lib/storage/object-store.ts";
import { allOf } from "../all-of.ts";
import { propertyRuns } from "../soak-options.ts";
import { type Faults, faultyStore, seeded } from "./faulty-store.ts";
import { worldOf } from "./worlds.ts";

const pace = { settleMs: 10, retentionMs: 20 };

/** A small world that a number decides; many numbers share blobs, and some come back to an earlier root. */
function worldNumber(number: number) {
  const service = (i: number): readonly [string, string] => [`s${i}`, String((number * i) % 3)];
  const clusters = Object.fromEntries(Array.from({ length: 1 + (number % 3) }, (_, i) => service(i)));
  return worldOf({ web: { clusters, listeners: { l: "1" }, routes: { "80": String(number % 4) } } });
}

/** Every generation that the chain holds, newest first. */
async function generations(store: ObjectStore): Promise<readonly number[]> {
  const read = await readHead(store);
  if (read === undefined) return [];
  const entries = await allOf(readHistory(createSnapshotReader(store), read.head.publication));
  return entries.map(({ generation }) => generation);
}

/** What must hold after any schedule: everything reachable is whole, the chain has no hole, nothing acknowledged is lost. */
async function expectInvariants(
  store: ObjectStore,
  acknowledged: readonly number[],
  keepPublications = Number.POSITIVE_INFINITY,
): Promise<void> {
  const { problems } = await fsck(store, { keepPublications });
  expect(problems).toEqual([]);
  if (Number.isFinite(keepPublications)) return;
  const chain = await generations(store);
  expect(chain).toEqual(Array.from({ length: chain.length }, (_, i) => chain.length - i));
  expect(acknowledged.filter((generation) => !chain.includes(generation))).toEqual([]);
  expect(new Set(acknowledged).size).toBe(acknowledged.length);
}

/** One publisher that goes on through faults, until it has published so often or died. */
async function publishThrough(store: ObjectStore, random: () => number, now: () => number, times: number) {
  const publisher = createPublisher(store, { pace, now });
  const acknowledged: number[] = [];
  for (let i = 0; i < times; i += 1) {
    try {
      const base = await publisher.head();
      const result = await publisher.publish(worldNumber(Math.floor(random() * 1_000)), base);
      if (result.kind === "published") acknowledged.push(result.head.generation);
    } catch {
      // A fault, or its echo: the next attempt starts from what the store says.
    }
  }
  return acknowledged;
}

/** @returns how many blobs were collected on the way */
async function runSchedule(seed: number, faults: Faults, publishers: number): Promise<number> {
  const random = seeded(seed);
  let clockMs = Date.UTC(2026, 0, 1);
  // A clock that jumps back and forth by minutes.
  const now = () => {
    clockMs += Math.floor(random() * 20);
    return clockMs + Math.floor((random() - 0.5) * 240_000);
  };
  const store = memoryStore(() => clockMs);
  const keepPublications = random() < 0.3 ? Number.POSITIVE_INFINITY : 1 + Math.floor(random() * 3);
  const publishing = Array.from({ length: publishers }, () =>
    publishThrough(faultyStore(store, faults, random), random, now, 4),
  );
  let collected = 0;
  const collecting = (async () => {
    for (let i = 0; i < 24; i += 1) {
      const own = random() < 0.5 ? faults : { ...faults, diesAt: 1 + Math.floor(random() * 160) };
      // Hardly any grace, so that blobs are deleted under the publishers' feet; every third collection soon has to end.
      const budgetMs = i % 3 === 0 ? 10 : 100;
      const options = { keepPublications, graceMs: Math.floor(random() * 60), now, budgetMs };
      const run = collectGarbage(faultyStore(store, own, random), options);
      await run.then(
        ({ deleted }) => {
          collected += deleted;
        },
        () => {},
      );
    }
  })();
  const acknowledged = (await Promise.all(publishing)).flat();
  await collecting;
  await expectInvariants(store, acknowledged, keepPublications);
  return collected;
}

/** A millisecond a turn of the event loop, for collections and for publishers that wait for them: a slow machine changes nothing. */
function passTime(): () => void {
  vi.useFakeTimers({ toNotFake: ["setImmediate", "clearImmediate", "nextTick", "queueMicrotask"] });
  let turn = setImmediate(function pass() {
    vi.advanceTimersByTime(1);
    turn = setImmediate(pass);
  });
  return () => {
    clearImmediate(turn);
    vi.useRealTimers();
  };
}

describe("publishing through faults", () => {
  let endTime = () => {};
  beforeEach(() => {
    endTime = passTime();
  });
  afterEach(() => endTime());

  it("keeps HEAD whole, the history a chain and every acknowledged publish, over seeded schedules", async () => {
    let collected = 0;
    for (let seed = 1; seed <= propertyRuns(2_000); seed += 1) {
      const random = seeded(seed * 7_919);
      const faults = {
        failsBefore: random() * 0.1,
        failsAfter: random() * 0.1,
        delays: random() * 0.8,
        ...(random() < 0.5 ? { diesAt: 1 + Math.floor(random() * 80) } : {}),
      };
      collected += await runSchedule(seed, faults, 1 + Math.floor(random() * 4)).catch((cause: unknown) => {
        throw new Error(`schedule ${seed}`, { cause });
      });
    }
    // Few: each root here is a configuration of its own, to which one can roll back.
    expect(collected).toBeGreaterThan(propertyRuns(2_000) / 10);
  }, 240_000);

  it("lets 20 publishers all through in the end, one after the other", async () => {
    const store = memoryStore();
    const publishers = Array.from({ length: 20 }, async (_, i) => {
      const publisher = createPublisher(store, { pace });
      for (;;) {
        const world = worldOf({ web: { routes: { "80": `publisher ${i}` } } });
        const result = await publisher.publish(world, await publisher.head());
        if (result.kind === "published") return result.head.generation;
      }
    });
    const acknowledged = await Promise.all(publishers);
    expect([...acknowledged].sort((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, i) => i + 1));
    await expectInvariants(store, acknowledged);
  });

  it("can be killed at every call of a publish, and the next publisher goes on", async () => {
    const { total } = await callsOfPublish();
    expect(total).toBeGreaterThan(8);
    for (let diesAt = 1; diesAt <= total + 1; diesAt += 1) {
      const store = memoryStore();
      const first = createPublisher(store, { pace });
      await first.publish(worldNumber(1), await first.head());
      const dying = faultyStore(store, { failsBefore: 0, failsAfter: 0, delays: 0, diesAt }, seeded(1));
      const second = createPublisher(dying, { pace });
      await second
        .head()
        .then((base) => second.publish(worldNumber(2), base))
        .catch(() => {});
      await expectInvariants(store, [1]);
      const third = createPublisher(store, { pace });
      await third.publish(worldNumber(3), await third.head());
      await expectInvariants(store, [1]);
    }
  });
});

async function callsOfPublish(): Promise<{ readonly total: number }> {
  const store = memoryStore();
  const first = createPublisher(store, { pace });
  await first.publish(worldNumber(1), await first.head());
  let total = 0;
  const count =
    <A extends readonly unknown[], R>(call: (...args: A) => R) =>
    (...args: A) => {
      total += 1;
      return call(...args);
    };
  const counting = { ...store, get: count(store.get), put: count(store.put), delete: count(store.delete) };
  const second = createPublisher(counting, { pace });
  await second.publish(worldNumber(2), await second.head());
  return { total };
}
