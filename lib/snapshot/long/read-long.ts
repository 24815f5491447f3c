import type { ListOfLists, LongRef, OriginList, RunList } from "../root.ts";
import { createLoadCache } from "../worlds/load-cache.ts";

/** Where the parts of a long resource lie. */
export interface StoredChunk {
  readonly text: string;
  readonly binary: string | undefined;
}

/** Reads what is stored of long resources besides their runs. */
export interface LongReader {
  runs(long: LongRef): Promise<readonly StoredChunk[]>;
  /** The objects that it was made from. */
  origins(long: LongRef): Promise<readonly string[]>;
  /** All blobs of it. */
  blobs(long: LongRef): Promise<readonly string[]>;
}

/** @param text reads a blob */
export function createLongReader(text: (hash: string) => Promise<string>, maxBytes: number): LongReader {
  const lists = createLoadCache<string, StoredList>({
    nameOf: (hash) => hash,
    maxBytes,
    load: async (hash) => JSON.parse(await text(hash)),
    sizeOf: ({ lists = [], runs = [], binaries = [], from = [] }) =>
      (lists.length + runs.length + binaries.length + from.length) * 100,
  });
  /** The lists of these names, each with all that it names before it. */
  const listsOf = async (names: readonly string[]): Promise<readonly NamedList[]> => {
    const loaded = await Promise.all(
      names.map(async (hash) => {
        const list = await lists.get(hash);
        return [...(await listsOf(list.lists ?? [])), { hash, list }];
      }),
    );
    return loaded.flat();
  };
  const runsIn = (all: readonly NamedList[]): readonly StoredChunk[] =>
    all.flatMap(({ list: { runs = [], binaries } }) =>
      runs.map((hash, at) => ({ text: hash, binary: binaries?.[at] })),
    );
  return {
    runs: async (long) => runsIn(await listsOf(long.lists)),
    origins: async (long) => (await listsOf(long.from)).flatMap(({ list: { from = [] } }) => from),
    async blobs(long) {
      const all = await listsOf([...long.lists, ...long.from]);
      const parts = runsIn(all).flatMap(({ text, binary }) => (binary === undefined ? [text] : [text, binary]));
      return [...all.map(({ hash }) => hash), ...parts];
    },
  };
}

/** A list of any kind. */
type StoredList = Partial<ListOfLists & RunList & OriginList>;

interface NamedList {
  readonly hash: string;
  readonly list: StoredList;
}

/** So many loads are under way before the first is asked for. Parts weigh some 8 KiB: less than a socket holds. */
const ahead = 24;

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
