/** Values that are loaded by key, kept by size. */
export interface LoadCache<K, V> {
  get(key: K): Promise<V>;
}

interface Entry<V> {
  readonly promise: Promise<V>;
  sizeBytes: number;
}

/**
 * Keeps what was asked for last, up to `maxBytes`, and loads once what several ask for at a time. For values that never
 * change under their key. A failed load is not remembered.
 */
export function createLoadCache<K, V>(options: {
  /** Two keys with equal names are the same. */
  readonly nameOf: (key: K) => string;
  readonly maxBytes: number;
  readonly load: (key: K) => Promise<V>;
  readonly sizeOf: (value: V) => number;
}): LoadCache<K, V> {
  const entries = new Map<string, Entry<V>>();
  let total = 0;

  function evict(): void {
    for (const [oldest, { sizeBytes }] of entries) {
      if (total <= options.maxBytes) return;
      entries.delete(oldest);
      total -= sizeBytes;
    }
  }

  function load(key: K, name: string): Entry<V> {
    const entry: Entry<V> = { promise: options.load(key), sizeBytes: 0 };
    entry.promise.then(
      (value) => {
        entry.sizeBytes = options.sizeOf(value);
        total += entry.sizeBytes;
        evict();
      },
      () => entries.delete(name),
    );
    return entry;
  }

  return {
    get(key) {
      const name = options.nameOf(key);
      const entry = entries.get(name) ?? load(key, name);
      // Maps iterate in order of insertion: the entry moves to the young end.
      entries.delete(name);
      entries.set(name, entry);
      return entry.promise;
    },
  };
}
