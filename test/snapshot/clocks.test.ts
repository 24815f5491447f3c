import { describe, expect, it } from "vitest";
import { headKey } from "../../lib/base/blob.ts";
import { headTimeMs } from "../../lib/snapshot/head/clock.ts";
import { readHead, rootAt } from "../../lib/snapshot/head/head.ts";
import { rollback } from "../../lib/snapshot/head/head-operations.ts";
import { createPublisher } from "../../lib/snapshot/publish.ts";
import { createSnapshotReader } from "../../lib/snapshot/reader/snapshot-reader.ts";
import { restoreWorld } from "../../lib/snapshot/worlds/restore-world.ts";
import { memoryStore } from "../../lib/storage/memory.ts";
import type { ObjectStore } from "../../lib/storage/object-store.ts";
import { contentsOf, worldOf } from "./worlds.ts";

const pace = { settleMs: 1_000, retentionMs: 4_000 };
const hour = 3_600_000;
const mesh = (service: string) => worldOf({ web: { clusters: { [service]: "1" }, routes: { "80": service } } });

/** A store whose clock is right, and publishers whose clocks are what they are. */
function scene(change: (store: ObjectStore) => ObjectStore = (store) => store) {
  let nowMs = Date.UTC(2026, 0, 1);
  const store = change(memoryStore(() => nowMs));
  const served = async (atMs: number) => {
    const read = await readHead(store);
    if (read === undefined) throw new Error("no HEAD");
    const { world } = await restoreWorld(createSnapshotReader(store), rootAt(read.head, headTimeMs(read, atMs)));
    const clusters = Object.keys(contentsOf(world, "web", "clusters")).join("");
    return `${clusters}→${contentsOf(world, "web", "routes")["80"]}`;
  };
  return {
    store,
    options: (aheadMs: number) => ({ pace, now: () => nowMs + aheadMs }),
    later: (ms: number) => {
      nowMs += ms;
    },
    publish: async (service: string, aheadMs = 0) => {
      const publisher = createPublisher(store, { pace, now: () => nowMs + aheadMs });
      await publisher.publish(mesh(service), await publisher.head());
    },
    /** What a front with a right clock serves at some moments from now on. */
    timeline: async (...afterMs: readonly number[]) => Promise.all(afterMs.map((ms) => served(nowMs + ms))),
  };
}

/** As a store whose clock nobody can see. */
const withoutClock = ({ time: _time, ...store }: ObjectStore): ObjectStore => ({
  ...store,
  async get(key, condition) {
    const found = await store.get(key, condition);
    if (found.kind !== "found") return found;
    const { modifiedMs: _modifiedMs, ...rest } = found;
    return rest;
  },
});

/** As a publisher of an earlier version wrote it, by its own clock. */
async function asBefore(store: ObjectStore): Promise<void> {
  const read = await readHead(store);
  const { at: _at, ...head } = read?.head ?? {};
  await store.put(headKey, new TextEncoder().encode(JSON.stringify(head)));
}

describe.each([hour, -hour, 20_000])("a publisher whose clock is %i ms ahead", (aheadMs) => {
  it("publishes in the same steps as any other, and so does whoever comes after", async () => {
    const { publish, timeline, later } = scene();
    await publish("a");
    later(60_000);
    await publish("b", aheadMs);
    expect(await timeline(0, 900, 1_500, 4_000, 7_600)).toEqual(["ab→a", "ab→a", "ab→b", "ab→b", "b→b"]);
    later(500);
    await publish("c");
    expect(await timeline(0, 400, 2_000, 9_000)).toEqual(["abc→a", "abc→a", "abc→c", "c→c"]);
  });

  it("does not put off a rollback", async () => {
    const { store, publish, timeline, later, options } = scene();
    await publish("a");
    later(60_000);
    await publish("b", aheadMs);
    later(60_000);
    await rollback(store, 1, options(0));
    expect(await timeline(0, 2_000, 9_000)).toEqual(["ab→b", "ab→a", "a→a"]);
  });

  it("puts off later publishes by no more than the pace where nobody can see the store's clock", async () => {
    const { publish, timeline, later } = scene(withoutClock);
    await publish("a");
    later(60_000);
    await publish("b", aheadMs);
    later(60_000);
    await publish("c");
    expect((await timeline(60_000))[0]).toBe("c→c");
  });
});

describe("a HEAD of an earlier version", () => {
  it("puts off nothing by more than the pace although its steps are an hour ahead", async () => {
    const { store, publish, timeline, later, options } = scene(withoutClock);
    await publish("a");
    await publish("b", hour);
    await asBefore(store);
    later(60_000);
    expect(await timeline(0)).toEqual(["ab→a"]);
    await rollback(store, 1, options(0));
    expect((await timeline(0, 30_000)).at(-1)).toBe("a→a");
    await publish("c");
    expect((await timeline(0, 30_000)).at(-1)).toBe("a→a");
  });
});

describe("times of a HEAD", () => {
  it("are those of the store's clock, whoever writes them", async () => {
    const { store, publish } = scene();
    await publish("a", hour);
    expect((await readHead(store))?.head.at).toBe("2026-01-01T00:00:00.000Z");
  });
});
