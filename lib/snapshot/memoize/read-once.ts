import { blobOfKey } from "../../base/blob.ts";
import type { GetResult, ObjectStore } from "../../storage/object-store.ts";

/** A store behind which each blob is read once, until what was read is forgotten. */
export interface ReadOnce {
  readonly store: ObjectStore;
  forget(): void;
}

/** What a compile of 5,000 services reads of tables and lists; more of them are read again. */
const usualMaxBytes = 24 * 1024 * 1024;

/**
 * For one compile: who takes what stands, who compares with what is served and who publishes read the same blobs. What is absent is looked
 * for each time: it may come.
 */
export function readOnce(below: ObjectStore, maxBytes = usualMaxBytes): ReadOnce {
  let found = new Map<string, Promise<GetResult>>();
  let bytes = 0;
  const read = (key: string): Promise<GetResult> => {
    const into = found;
    const reading = below.get(key);
    into.set(key, reading);
    const drop = () => {
      if (into.get(key) === reading) into.delete(key);
    };
    reading.then((result) => {
      if (into !== found) return;
      const size = result.kind === "found" ? result.bytes.length : Number.POSITIVE_INFINITY;
      if (bytes + size > maxBytes) drop();
      else bytes += size;
    }, drop);
    return reading;
  };
  return {
    store: {
      ...below,
      get(key, condition) {
        if (condition !== undefined || blobOfKey(key) === undefined) return below.get(key, condition);
        return found.get(key) ?? read(key);
      },
      put(key, written, condition) {
        found.delete(key);
        return below.put(key, written, condition);
      },
      delete(key) {
        found.delete(key);
        return below.delete(key);
      },
    },
    forget() {
      found = new Map();
      bytes = 0;
    },
  };
}
