import { describe, expect, it } from "vitest";
import { rollback } from "../../lib/snapshot/head/head-operations.ts";
import { createPublisher } from "../../lib/snapshot/publish.ts";
import { collectGarbage } from "../../lib/snapshot/upkeep/collect-garbage.ts";
import { fsck } from "../../lib/snapshot/upkeep/fsck.ts";
import { memoryStore } from "../../lib/storage/memory.ts";
import type { ObjectStore } from "../../lib/storage/object-store.ts";
import { allOf } from "../all-of.ts";
import { worldOf } from "./worlds.ts";

const hour = 3_600_000;
const ledgerKey = "gc/ledger";
const pace = { settleMs: 0, retentionMs: 0 };
const world = (content: string) => worldOf({ web: { clusters: { a: content, b: "same" }, routes: { "80": content } } });
const whole = { since: new Date(0).toISOString(), doomed: [], deleted: [], finished: false, budgetMs: 60_000 };

/** What may come over the ledger. */
const harms: readonly (readonly [string, string])[] = [
  ["empty", ""],
  ["cut", '{"since":"2026-01-0'],
  ["binary", "\u0000\u0001\ufffd"],
  ["null", "null"],
  ["a list", "[]"],
  ["no fields", "{}"],
  ["no time", JSON.stringify({ ...whole, since: "yesterday" })],
  ["no names", JSON.stringify({ ...whole, doomed: {} })],
  ["numbers for names", JSON.stringify({ ...whole, deleted: [1] })],
  ["a deletion that goes on for a year", JSON.stringify({ ...whole, budgetMs: 31_536_000_000 })],
];

function scene() {
  let nowMs = Date.UTC(2026, 0, 1);
  const now = () => nowMs;
  const store = memoryStore(now);
  const publish = async (content: string, to: ObjectStore = store) => {
    const publisher = createPublisher(to, { pace, now });
    return publisher.publish(world(content), await publisher.head());
  };
  return {
    store,
    publish,
    options: { pace, now },
    damage: (text: string) => store.put(ledgerKey, new TextEncoder().encode(text)),
    later: (ms: number) => {
      nowMs += ms;
    },
    collect: (from: ObjectStore = store, keepPublications = 1) =>
      collectGarbage(from, { keepPublications, graceMs: hour, now }),
    blobs: async () => (await allOf(store.list("blobs/"))).length,
  };
}

describe.each(harms)("a ledger of collections that is damaged: %s", (_what, text) => {
  it("stops no publish and no rollback, and fsck names it", async () => {
    const { store, publish, damage, options } = scene();
    await publish("1");
    await damage(text);
    expect((await publish("2")).kind).toBe("published");
    expect((await publish("1")).kind).toBe("published");
    await rollback(store, 1, options);
    const { problems } = await fsck(store);
    expect(problems).toHaveLength(1);
    expect(problems[0]).toContain("gc/ledger is empty or holds something else");
    expect(problems[0]).toContain("`portolan gc` writes the file again");
  });

  it("deletes nothing, and is written anew by a collection that names everything again", async () => {
    const { store, publish, damage, later, collect, blobs } = scene();
    for (const content of ["1", "2", "3"]) await publish(content);
    later(2 * hour);
    await collect();
    await damage(text);
    later(2 * hour);
    const before = await blobs();
    const { doomed, ...renewed } = await collect();
    expect(renewed).toMatchObject({ done: true, deleted: 0, isLedgerRenewed: true });
    expect(doomed).toBeGreaterThan(3);
    // Besides the entry of the collection.
    expect(await blobs()).toBe(before + 1);
    later(2 * hour);
    const next = await collect();
    expect(next.deleted).toBeGreaterThan(3);
    expect(next).not.toHaveProperty("isLedgerRenewed");
    expect((await fsck(store, { keepPublications: 1 })).problems).toEqual([]);
  });

  it("tells fsck that it is not known how far the history was collected", async () => {
    const { store, publish, damage, later, collect } = scene();
    for (const content of ["1", "2", "3"]) await publish(content);
    for (let i = 0; i < 3; i += 1) {
      later(2 * hour);
      await collect();
    }
    expect((await fsck(store)).problems).toEqual([]);
    await damage(text);
    expect((await fsck(store)).problems).toHaveLength(1);
    later(2 * hour);
    await collect();
    expect((await fsck(store)).problems).toEqual([]);
  });
});

describe("a ledger that is damaged while its collector deletes", () => {
  /** Publishes the old world when the collector has carried out as many deletions, damaging the ledger before or after it looked. */
  async function run(at: number, isFoundFirst: boolean, renews: boolean): Promise<readonly string[]> {
    const { store, publish, damage, later, collect } = scene();
    await publish("1");
    for (const content of ["2", "3"]) await publish(content);
    later(2 * hour);
    await collect();
    later(2 * hour);
    let deletions = 0;
    /** As a publisher that looked before the deletion has it: what it finds in place is deleted by the time it reads the ledger. */
    const stale: ObjectStore = {
      ...store,
      async put(key, bytes, condition) {
        const isBlob = key.startsWith("blobs/") && condition?.ifNoneMatch === "*";
        if (isBlob && isFoundFirst && !looked.has(key) && seen.has(key)) {
          looked.add(key);
          return { kind: "lost" };
        }
        return store.put(key, bytes, condition);
      },
    };
    const seen = new Set((await allOf(store.list("blobs/"))).map(({ key }) => key));
    const looked = new Set<string>();
    const beside: ObjectStore = {
      ...store,
      async delete(key) {
        await store.delete(key);
        deletions += 1;
        if (deletions !== at) return;
        await damage("");
        if (renews) await collect();
        expect((await publish("1", stale)).kind).toBe("published");
      },
    };
    await collect(beside);
    expect(deletions).toBeGreaterThanOrEqual(at);
    return (await fsck(store, { keepPublications: 1 })).problems.filter((problem) => !problem.startsWith("gc/ledger"));
  }

  it.each([
    { isFoundFirst: false, renews: false },
    { isFoundFirst: true, renews: false },
    { isFoundFirst: false, renews: true },
  ])("takes nothing away from a publisher beside it: %o", async ({ isFoundFirst, renews }) => {
    for (let at = 1; at <= 8; at += 1) expect(await run(at, isFoundFirst, renews), `deletion ${at}`).toEqual([]);
  });

  it("makes a publisher lose that looked before another collection wrote the ledger anew", async () => {
    const { store, publish, damage, later, collect, options } = scene();
    await publish("1");
    await publish("2");
    const publisher = createPublisher(store, options);
    const base = await publisher.head();
    await damage("garbage");
    later(2 * hour);
    await collect();
    expect((await publisher.publish(world("1"), base)).kind).toBe("lost");
  });
});
