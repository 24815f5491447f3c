import { describe, expect, it } from "vitest";
import { blobKey } from "../../lib/base/blob.ts";
import { createPublisher } from "../../lib/snapshot/publish.ts";
import { createSnapshotReader } from "../../lib/snapshot/reader/snapshot-reader.ts";
import { collectGarbage } from "../../lib/snapshot/upkeep/collect-garbage.ts";
import { fsck } from "../../lib/snapshot/upkeep/fsck.ts";
import { reachableFrom } from "../../lib/snapshot/upkeep/reachable.ts";
import { memoryStore } from "../../lib/storage/memory.ts";
import type { ObjectStore } from "../../lib/storage/object-store.ts";
import { worldOf } from "./worlds.ts";

const pace = { settleMs: 0, retentionMs: 0 };
const world = (name: string) => worldOf({ web: { clusters: { [name]: name }, routes: { "80": name } } });

/** A store that carries out the first deletion of one of some keys only once `release` is called. */
function stalling(
  store: ObjectStore,
  keys: ReadonlySet<string>,
): {
  readonly store: ObjectStore;
  readonly stalled: Promise<void>;
  release(): void;
} {
  const stalled = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  let isFirst = true;
  return {
    stalled: stalled.promise,
    release: released.resolve,
    store: {
      ...store,
      async delete(key) {
        if (isFirst && keys.has(key)) {
          isFirst = false;
          stalled.resolve();
          await released.promise;
        }
        return store.delete(key);
      },
    },
  };
}

describe("a deletion that the store carries out late", () => {
  it.each([1, 2])(
    "takes nothing away from who published the old world meanwhile, with %i other publications kept",
    async (keep) => {
      let nowMs = Date.UTC(2026, 0, 1);
      const store = memoryStore(() => nowMs);
      const options = { keepPublications: keep, graceMs: 10, now: () => nowMs, budgetMs: 20 };
      const publish = async (name: string) => {
        const publisher = createPublisher(store, { pace, now: () => nowMs });
        const result = await publisher.publish(world(name), await publisher.head());
        if (result.kind !== "published") throw new Error(result.kind);
        nowMs += 1_000;
        return reachableFrom(createSnapshotReader(store), result.root);
      };
      const old = new Set(Array.from(await publish("old"), blobKey));
      for (const name of ["newer", "newest", "last"]) await publish(name);
      expect((await collectGarbage(store, options)).doomed).toBeGreaterThan(0);
      nowMs += 1_000;
      const slow = stalling(store, old);
      const collecting = collectGarbage(slow.store, options);
      await slow.stalled;
      // The publisher waits for twice the collector's time, takes it for dead and writes what it needs.
      await publish("old");
      slow.release();
      await collecting;
      expect((await fsck(store, { keepPublications: keep })).problems).toEqual([]);
    },
  );
});
