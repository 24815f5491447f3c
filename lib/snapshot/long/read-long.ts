import type { LongRef, OriginList, RunList } from "../root.ts";
import { createLoadCache } from "../worlds/load-cache.ts";

/** Where the parts of a long resource lie. */
export interface StoredRun {
  readonly text: string;
  readonly binary: string | undefined;
}

/** Reads what is stored of long resources besides their runs. */
export interface LongReader {
  runs(long: LongRef): Promise<readonly StoredRun[]>;
  /** The objects that it was made from. */
  origins(long: LongRef): Promise<readonly string[]>;
  /** All blobs of it. */
  blobs(long: LongRef): Promise<readonly string[]>;
}

/** @param text reads a blob */
export function createLongReader(text: (hash: string) => Promise<string>, maxBytes: number): LongReader {
  const runLists = createLoadCache<string, RunList>({
    nameOf: (hash) => hash,
    maxBytes,
    load: async (hash) => JSON.parse(await text(hash)),
    sizeOf: ({ runs, binaries = [] }) => (runs.length + binaries.length) * 100,
  });
  const originLists = createLoadCache<string, OriginList>({
    nameOf: (hash) => hash,
    maxBytes,
    load: async (hash) => JSON.parse(await text(hash)),
    sizeOf: ({ from }) => from.length * 80,
  });
  async function runs({ lists }: LongRef): Promise<readonly StoredRun[]> {
    const loaded = await Promise.all(lists.map((hash) => runLists.get(hash)));
    return loaded.flatMap((list) => list.runs.map((hash, at) => ({ text: hash, binary: list.binaries?.[at] })));
  }
  return {
    runs,
    async origins({ from }) {
      return (await Promise.all(from.map((hash) => originLists.get(hash)))).flatMap((list) => list.from);
    },
    async blobs(long) {
      const stored = await runs(long);
      const parts = stored.flatMap(({ text, binary }) => (binary === undefined ? [text] : [text, binary]));
      return [...long.lists, ...long.from, ...parts];
    },
  };
}

/** So many loads are under way before the first is asked for. */
const ahead = 8;

/** Loads one after the other, and some of the next meanwhile. */
export async function* loadInOrder<K, V>(keys: readonly K[], load: (key: K) => Promise<V>): AsyncGenerator<V> {
  const begun: Promise<V>[] = [];
  for (const [at, key] of keys.entries()) {
    for (const next of at === 0 ? keys.slice(0, ahead) : keys.slice(at + ahead - 1, at + ahead)) {
      const loading = load(next);
      // Whoever stops asking does not hear of those that fail.
      loading.catch(() => undefined);
      begun.push(loading);
    }
    yield await (begun.shift() ?? load(key));
  }
}
