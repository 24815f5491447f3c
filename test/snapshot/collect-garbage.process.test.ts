import { describe, expect, it } from "vitest";
import { blobKey, hashOf } from "../../lib/base/blob.ts";
import { readHead } from "../../lib/snapshot/head/head.ts";
import { rollback } from "../../lib/snapshot/head/head-operations.ts";
import { createPublisher } from "../../lib/snapshot/publish.ts";
import { collectGarbage } from "../../lib/snapshot/upkeep/collect-garbage.ts";
import { collectables } from "../../lib/snapshot/upkeep/collectables.ts";
import { fsck } from "../../lib/snapshot/upkeep/fsck.ts";
import { memoryStore } from "../../lib/storage/memory.ts";
import type { ObjectStore } from "../../lib/storage/object-store.ts";
import { allOf } from "../all-of.ts";
import { worldOf } from "./worlds.ts";

const hour = 3_600_000;
const world = (content: string) => worldOf({ web: { clusters: { a: content, b: "same" }, routes: { "80": content } } });

function scene() {
  let nowMs = Date.UTC(2026, 0, 1);
  const now = () => nowMs;
  const store = memoryStore(now);
  const publisher = createPublisher(store, { pace: { settleMs: 0, retentionMs: 0 }, now });
  const pace = { settleMs: 0, retentionMs: 0 };
  return {
    store,
    now,
    options: { pace, now },
    later: (ms: number) => {
      nowMs += ms;
    },
    publish: async (content: string) => publisher.publish(world(content), await publisher.head()),
    collect: (keepPublications = 1) =>
      collectGarbage(store, { keepPublications, graceMs: hour, now, others: collectables }),
  };
}

async function count(store: ObjectStore): Promise<number> {
  return (await allOf(store.list("blobs/"))).length;
}

describe("collectGarbage", () => {
  it("deletes what nothing names, a grace time after it has said so", async () => {
    const { store, publish, later, collect } = scene();
    await publish("1");
    await publish("2");
    const before = await count(store);
    later(2 * hour);
    expect(await collect()).toMatchObject({ done: true, deleted: 0, doomed: expect.any(Number) });
    expect(await count(store)).toBe(before);
    later(hour / 2);
    expect(await collect()).toMatchObject({ deleted: 0 });
    later(hour);
    const { deleted } = await collect();
    expect(deleted).toBeGreaterThan(3);
    // The run has left a publication of its own.
    expect(await count(store)).toBe(before - deleted + 1);
    expect((await fsck(store, { keepPublications: 1 })).problems).toEqual([]);
  });

  it("leaves alone what the kept history names", async () => {
    const { store, publish, later, collect } = scene();
    for (const content of ["1", "2", "3"]) await publish(content);
    const before = await count(store);
    for (let i = 0; i < 4; i += 1) {
      later(2 * hour);
      await collect(3);
    }
    expect(await count(store)).toBe(before);
    expect((await fsck(store)).problems).toEqual([]);
  });

  it("keeps a module of Wasm as long as a root names it, and deletes it then", async () => {
    const { store, options, later, collect } = scene();
    const publisher = createPublisher(store, options);
    const bytes = new TextEncoder().encode("\0asm and more");
    await store.put(blobKey(hashOf(bytes)), bytes);
    const isThere = async () => (await store.get(blobKey(hashOf(bytes)))).kind === "found";
    const collectTwice = async () => {
      for (let i = 0; i < 3; i += 1) {
        later(2 * hour);
        await collect();
      }
    };
    await publisher.publish({ ...world("1"), lookups: { heldModules: [hashOf(bytes)] } }, await publisher.head());
    await collectTwice();
    expect(await isThere()).toBe(true);
    expect((await fsck(store, { keepPublications: 1 })).problems).toEqual([]);
    await publisher.publish(world("2"), await publisher.head());
    await collectTwice();
    expect(await isThere()).toBe(false);
  });

  it("leaves alone what is young, since somebody may be about to name it", async () => {
    const { store, collect, now, later, publish } = scene();
    await publish("1");
    later(2 * hour);
    const staged = await createPublisher(store, { now }).stage(world("2"));
    expect(await collect()).toMatchObject({ doomed: 0 });
    expect((await store.get(`blobs/${staged.slice(0, 2)}/${staged}`)).kind).toBe("found");
  });

  it("spares what a publisher comes back to after it was doomed", async () => {
    const { store, publish, later, collect } = scene();
    await publish("1");
    await publish("2");
    later(2 * hour);
    expect((await collect()).doomed).toBeGreaterThan(3);
    await publish("1");
    later(2 * hour);
    await collect();
    expect((await fsck(store, { keepPublications: 1 })).problems).toEqual([]);
  });

  it("is written anew what a publisher needs while it is being deleted", async () => {
    const { store, publish, later, now } = scene();
    await publish("1");
    await publish("2");
    later(2 * hour);
    const slow: ObjectStore = {
      ...store,
      // Half way through the deletion, somebody publishes what is being deleted.
      delete: async (key) => {
        await store.delete(key);
        if (publishing === undefined) {
          publishing = publish("1");
          await new Promise((resolve) => setTimeout(resolve, 20));
        }
      },
    };
    let publishing: Promise<unknown> | undefined;
    const options = { keepPublications: 1, graceMs: hour, now };
    await collectGarbage(slow, options);
    later(2 * hour);
    await collectGarbage(slow, options);
    await publishing;
    expect((await fsck(store, { keepPublications: 1 })).problems).toEqual([]);
  });
});

describe("collecting", () => {
  it("keeps as many roots as were served, however many collections, canaries and held publishes come between", async () => {
    const { store, publish, later, collect, options } = scene();
    for (const content of ["1", "2", "3"]) await publish(content);
    await rollback(store, 0, options);
    for (let i = 0; i < 6; i += 1) {
      later(2 * hour);
      await publish(`held ${i}`);
      await collect(3);
    }
    await rollback(store, 2, options);
    expect((await readHead(store))?.head.pin).toBeDefined();
    expect((await fsck(store)).problems).toEqual([]);
  });

  it("leaves a store in which nothing is wrong, also to whoever looks at all of the history", async () => {
    const { store, publish, later, collect } = scene();
    for (let i = 0; i < 8; i += 1) {
      await publish(String(i));
      later(2 * hour);
      const { done } = await collect(2);
      expect(done).toBe(true);
      expect((await fsck(store)).problems).toEqual([]);
    }
    expect((await fsck(store)).publications).toBeLessThan(9);
  });

  it("takes deliveries of a week ago and old copies of HEAD, and nothing that it does not know", async () => {
    const { store, publish, later, collect } = scene();
    const put = (key: string) => store.put(key, new TextEncoder().encode(key));
    await publish("1");
    for (const key of ["hooks/forge/1", "compile/slices/a/0", "compile/lease", "other/a"]) await put(key);
    for (let i = 0; i < 20; i += 1) await publish(String(i));
    later(8 * 24 * hour);
    await put("hooks/forge/2");
    await collect();
    later(2 * hour);
    await collect();
    const left = (await allOf(store.list(""))).map(({ key }) => key);
    expect(left.filter((key) => /^(hooks|compile|other)/.test(key))).toEqual([
      "compile/lease",
      "hooks/forge/2",
      "other/a",
    ]);
    expect(left.filter((key) => key.startsWith("heads/"))).toHaveLength(17);
  });
});

describe("fsck", () => {
  it("counts what is there and finds nothing wrong with a store that was only ever published to", async () => {
    const { store, publish } = scene();
    for (const content of ["1", "2", "3"]) await publish(content);
    expect(await fsck(store)).toMatchObject({ publications: 3, roots: 3, problems: [] });
  });

  it.each([
    ["is missing", async (store: ObjectStore, key: string) => store.delete(key)],
    [
      "holds other bytes",
      async (store: ObjectStore, key: string) => void (await store.put(key, new Uint8Array([123, 125]))),
    ],
  ])("finds every blob that %s", async (_what, harm) => {
    const reference = scene();
    await reference.publish("1");
    for await (const { key } of reference.store.list("blobs/")) {
      const { store, publish } = scene();
      await publish("1");
      await harm(store, key);
      expect((await fsck(store)).problems.length).toBeGreaterThan(0);
    }
  });
});
