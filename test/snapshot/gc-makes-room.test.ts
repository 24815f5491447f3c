import { expect, it } from "vitest";
import { PortolanError } from "../../lib/base/diagnostic.ts";
import { createPublisher } from "../../lib/snapshot/publish.ts";
import { collectGarbage } from "../../lib/snapshot/upkeep/collect-garbage.ts";
import { ledgerKey } from "../../lib/snapshot/upkeep/gc-ledger.ts";
import { memoryStore } from "../../lib/storage/memory.ts";
import type { ObjectStore } from "../../lib/storage/object-store.ts";
import { worldOf } from "./worlds.ts";

/** A disk with room for the ledger alone, until what is laid by is given back. */
function nearlyFull(store: ObjectStore): ObjectStore {
  let hasRoom = false;
  return {
    ...store,
    put(key, bytes, condition) {
      if (!hasRoom && key !== ledgerKey) return Promise.reject(new PortolanError("ENOSPC"));
      return store.put(key, bytes, condition);
    },
    async makeRoom() {
      hasRoom = true;
    },
  };
}

it("a collection makes room for each of its writes, not only for the first", async () => {
  const store = memoryStore();
  const publisher = createPublisher(store, { pace: { settleMs: 0, retentionMs: 0 } });
  for (const content of ["1", "2", "3"])
    await publisher.publish(worldOf({ web: { clusters: { a: content } } }), await publisher.head());
  const options = { keepPublications: 1, graceMs: 0, now: () => Date.now() + 60_000 };
  expect(await collectGarbage(store, options)).toMatchObject({ done: true });
  const collected = await collectGarbage(nearlyFull(store), options);
  expect(collected).toMatchObject({ done: true });
  expect(collected.deleted).toBeGreaterThan(0);
});
