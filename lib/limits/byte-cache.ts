/** Values by name, kept by size: what was not asked for since it was last looked at goes first. */
export interface ByteCache<V> {
  get(name: string): V | undefined;
  /** @param bytes what it takes; more than a quarter of the cache is not kept */
  set(name: string, value: V, bytes: number): void;
}

interface Entry<V> {
  readonly value: V;
  readonly bytes: number;
  /** Asked for, so it is passed over once. */
  isUsed: boolean;
}

export function createByteCache<V>(maxBytes: number): ByteCache<V> {
  /** Maps iterate in order of insertion: the youngest comes last, and what was passed over comes after it. */
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
      entry.isUsed = true;
      return entry.value;
    },
    set(name, value, bytes) {
      forget(name);
      if (bytes > maxBytes / 4) return;
      for (const [oldest, entry] of entries) {
        if (total + bytes <= maxBytes) break;
        entries.delete(oldest);
        if (entry.isUsed) entries.set(oldest, { ...entry, isUsed: false });
        else total -= entry.bytes;
      }
      entries.set(name, { value, bytes, isUsed: false });
      total += bytes;
    },
  };
}
