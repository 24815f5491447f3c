/** Values that are loaded by key, kept by size. */
export interface LoadCache<K, V> {
  get(key: K): Promise<V>;
  /** What is there already; undefined for what is to be loaded, or is being loaded. */
  loaded(key: K): V | undefined;
}

interface Entry<V> {
  readonly promise: Promise<V>;
  sizeBytes: number;
  loaded: { readonly value: V } | undefined;
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
  /** Whether what was asked for last stays, even where it is larger than all that may; false when absent. */
  readonly keepsLatest?: boolean;
}): LoadCache<K, V> {
  const entries = new Map<string, Entry<V>>();
  let total = 0;
  /** The entry at the young end. */
  let latest: Entry<V> | undefined;

  function forget(name: string, entry: Entry<V>): void {
    if (entries.get(name) !== entry) return;
    entries.delete(name);
    total -= entry.sizeBytes;
  }

  function load(key: K, name: string): Promise<V> {
    const measured = options.load(key).then((value) => ({ value, sizeBytes: options.sizeOf(value) }));
    const entry: Entry<V> = { promise: measured.then(({ value }) => value), sizeBytes: 0, loaded: undefined };
    entries.set(name, entry);
    latest = entry;
    measured.then(
      ({ value, sizeBytes }) => {
        entry.loaded = { value };
        if (entries.get(name) !== entry) return;
        entry.sizeBytes = sizeBytes;
        total += sizeBytes;
        for (const [oldest, old] of entries) {
          if (total <= options.maxBytes) break;
          if (options.keepsLatest === true && old === latest) continue;
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

  /** @returns the entry, which is now the one that was asked for last */
  function asked(name: string): Entry<V> | undefined {
    const entry = entries.get(name);
    if (entry === undefined || entry === latest) return entry;
    // Maps iterate in order of insertion: the entry moves to the young end.
    entries.delete(name);
    entries.set(name, entry);
    latest = entry;
    return entry;
  }

  return {
    loaded: (key) => asked(options.nameOf(key))?.loaded?.value,
    get(key) {
      const name = options.nameOf(key);
      const entry = asked(name);
      if (entry === undefined) return load(key, name);
      return entry.loaded !== undefined ? entry.promise : patiently(entry, key, name);
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
