import { describe, expect, it } from "vitest";
import { countedStore } from "../../functions/counted-store.ts";
import { usualGc } from "../../lib/compile/garbage.ts";
import { createPublisher } from "../../lib/snapshot/publish.ts";
import { collectGarbage } from "../../lib/snapshot/upkeep/collect-garbage.ts";
import { fsck } from "../../lib/snapshot/upkeep/fsck.ts";
import { memoryStore } from "../../lib/storage/memory.ts";
import { worldOf } from "../snapshot/worlds.ts";

describe("a counted store", () => {
  it("fires once so many operations were asked of it, and goes on answering", async () => {
    const { store, spent } = countedStore(memoryStore(), 3);
    await store.put("a", new Uint8Array([1]));
    await store.get("a");
    expect(spent.aborted).toBe(false);
    await store.delete("a");
    expect(spent.aborted).toBe(true);
    expect((await store.get("a")).kind).toBe("absent");
  });

  it("ends a collection of garbage early and whole, and later ones delete the rest", async () => {
    let nowMs = Date.UTC(2026, 0, 1);
    const now = () => nowMs;
    const memory = memoryStore(now);
    const publisher = createPublisher(memory, { pace: { settleMs: 0, retentionMs: 0 }, now });
    for (let content = 0; content < 12; content += 1)
      await publisher.publish(worldOf({ web: { clusters: { a: `${content}` } } }), await publisher.head());
    const collect = async (most: number) => {
      nowMs += 2 * usualGc.graceMs;
      const { store, spent } = countedStore(memory, most);
      const { deleted, doomed } = await collectGarbage(store, { ...usualGc, keepPublications: 1, now, signal: spent });
      expect((await fsck(memory, { keepPublications: 1 })).problems).toEqual([]);
      return { deleted, doomed };
    };
    const { doomed } = await collect(9_000);
    expect(doomed).toBeGreaterThan(40);
    // Enough to look what is needed, and for no batch of deletions but the one under way.
    const first = await collect(40);
    expect(first.deleted).toBeLessThan(doomed);
    expect(first.doomed).toBeGreaterThan(0);
    const second = await collect(9_000);
    expect(first.deleted + second.deleted).toBeGreaterThanOrEqual(doomed);
  });
});
