import type { ObjectStore } from "../../lib/storage/object-store.ts";

/** How often a store was asked. */
export interface StoreCounts {
  reads: number;
  writes: number;
  /** Pages of 1,000 keys, as a bucket lists them. */
  lists: number;
}

const pageOfList = 1_000;

/** A store as a bucket is, which calls nobody, with what is asked of it. */
export function countingStore(store: ObjectStore): { readonly store: ObjectStore; readonly counts: StoreCounts } {
  const { watch: _watch, ...bucket } = store;
  const counts = { reads: 0, writes: 0, lists: 0 };
  const counted: ObjectStore = {
    ...bucket,
    get(key, condition) {
      counts.reads += 1;
      return store.get(key, condition);
    },
    put(key, bytes, condition) {
      counts.writes += 1;
      return store.put(key, bytes, condition);
    },
    folders(prefix) {
      counts.lists += 1;
      return store.folders(prefix);
    },
    async *list(prefix, after) {
      let keys = 0;
      for await (const listed of store.list(prefix, after)) {
        if (keys % pageOfList === 0) counts.lists += 1;
        keys += 1;
        yield listed;
      }
      if (keys === 0) counts.lists += 1;
    },
  };
  return { store: counted, counts };
}
