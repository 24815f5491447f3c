import { PortolanError } from "../../lib/base/diagnostic.ts";
import type { ObjectStore } from "../../lib/storage/object-store.ts";
import { allOf } from "../all-of.ts";

/** Numbers from 0 to 1 that a seed decides (mulberry32). */
export function seeded(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export interface Faults {
  /** Share of calls that fail before they do anything. */
  readonly failsBefore: number;
  /** Share of calls that do their work and then fail: the caller cannot know. */
  readonly failsAfter: number;
  /** Share of calls that let others go first, which reorders them. */
  readonly delays: number;
  /** The process dies at this call, counted from 1: this and every later one fails without effect. */
  readonly diesAt?: number;
}

/** A store whose calls fail, are delayed and reordered, and end for ever, as a seed decides. */
export function faultyStore(store: ObjectStore, faults: Faults, random: () => number): ObjectStore {
  let calls = 0;
  const fault = async <T>(call: () => Promise<T>): Promise<T> => {
    calls += 1;
    if (faults.diesAt !== undefined && calls >= faults.diesAt) throw new PortolanError("the process has died");
    const fate = random();
    while (random() < faults.delays) await new Promise((resolve) => setImmediate(resolve));
    if (fate < faults.failsBefore) throw new PortolanError("the store failed");
    const result = await call();
    if (fate > 1 - faults.failsAfter) throw new PortolanError("the answer was lost");
    return result;
  };
  return {
    get: (key, condition) => fault(() => store.get(key, condition)),
    put: (key, bytes, condition) => fault(() => store.put(key, bytes, condition)),
    delete: (key) => fault(() => store.delete(key)),
    folders: (prefix) => fault(() => store.folders(prefix)),
    async *list(prefix, after) {
      yield* await fault(() => allOf(store.list(prefix, after)));
    },
  };
}
