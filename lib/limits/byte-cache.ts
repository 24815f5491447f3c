/** Values by name, kept by size: what was asked for longest ago goes first. */
export interface ByteCache<V> {
  get(name: string): V | undefined;
  /** @param bytes what it takes; more than a quarter of the cache is not kept */
  set(name: string, value: V, bytes: number): void;
}

interface Entry<V> {
  readonly value: V;
  readonly bytes: number;
}

export function createByteCache<V>(maxBytes: number): ByteCache<V> {
  /** Maps iterate in order of insertion: the youngest comes last. */
  const entries = new Map<string, Entry<V>>();
  let total = 0;

  function forget(name: string): void {
    total -= entries.get(name)?.bytes ?? 0;
    entries.delete(name);
  }

  return {
    get(name) {
      const entry = entries.get(name);
      if (entry === undefined) return undefined;
      entries.delete(name);
      entries.set(name, entry);
      return entry.value;
    },
    set(name, value, bytes) {
      forget(name);
      if (bytes > maxBytes / 4) return;
      entries.set(name, { value, bytes });
      total += bytes;
      for (const oldest of entries.keys()) {
        if (total <= maxBytes) return;
        forget(oldest);
      }
    },
  };
}
