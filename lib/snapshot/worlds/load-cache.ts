/** Values that are loaded by key, kept by size. */
export interface LoadCache<K, V> {
  get(key: K): Promise<V>;
}

interface Entry<V> {
  readonly promise: Promise<V>;
  sizeBytes: number;
  loaded: boolean;
}

/**
 * Keeps what was asked for last, up to `maxBytes`, and loads once what several ask for at a time. For values that never
 * change under their key. A failed load is not remembered.
 *
 * @param options.patienceMs how long to wait for a load that somebody else began, before loading oneself: at the edge a load
 * ends unfinished with the request that began it
 */
export function createLoadCache<K, V>(options: {
  /** Two keys with equal names are the same. */
  readonly nameOf: (key: K) => string;
  readonly maxBytes: number;
  readonly load: (key: K) => Promise<V>;
  readonly sizeOf: (value: V) => number;
  readonly patienceMs?: number;
}): LoadCache<K, V> {
  const entries = new Map<string, Entry<V>>();
  let total = 0;

  function forget(name: string, entry: Entry<V>): void {
    if (entries.get(name) !== entry) return;
    entries.delete(name);
    total -= entry.sizeBytes;
  }

  function load(key: K, name: string): Promise<V> {
    const measured = options.load(key).then((value) => ({ value, sizeBytes: options.sizeOf(value) }));
    const entry: Entry<V> = { promise: measured.then(({ value }) => value), sizeBytes: 0, loaded: false };
    entries.set(name, entry);
    measured.then(
      ({ sizeBytes }) => {
        entry.loaded = true;
        if (entries.get(name) !== entry) return;
        entry.sizeBytes = sizeBytes;
        total += sizeBytes;
        for (const [oldest, old] of entries) {
          if (total <= options.maxBytes) break;
          forget(oldest, old);
        }
      },
      () => forget(name, entry),
    );
    return entry.promise;
  }

  async function patiently(entry: Entry<V>, key: K, name: string): Promise<V> {
    return (await settledWithin(entry.promise, options.patienceMs ?? 3_000)) ? entry.promise : load(key, name);
  }

  return {
    get(key) {
      const name = options.nameOf(key);
      const entry = entries.get(name);
      if (entry === undefined) return load(key, name);
      // Maps iterate in order of insertion: the entry moves to the young end.
      entries.delete(name);
      entries.set(name, entry);
      return entry.loaded ? entry.promise : patiently(entry, key, name);
    },
  };
}

/** Whether a promise settles, either way, before the time is up. */
export function settledWithin(promise: Promise<unknown>, timeoutMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(false), timeoutMs);
    const settled = () => {
      clearTimeout(timer);
      resolve(true);
    };
    promise.then(settled, settled);
  });
}
