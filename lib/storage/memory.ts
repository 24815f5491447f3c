import { byCodePoint } from "../base/diagnostic.ts";
import { foldersOf } from "./files/folders-of.ts";
import { checkKey, type ObjectStore } from "./object-store.ts";

interface Entry {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly etag: string;
  readonly modifiedMs: number;
}

/**
 * A store in this process's memory: for tests, and for trying a compile without leaving traces.
 *
 * @param clock the store's own, by which it says when objects were written; without one it does not say
 */
export function memoryStore(clock?: () => number): ObjectStore {
  const now = clock ?? Date.now;
  const entries = new Map<string, Entry>();
  const watchers = new Map<string, Set<() => void>>();
  let writes = 0;
  const changed = (key: string) => {
    for (const onChange of watchers.get(key) ?? []) onChange();
  };

  return {
    async get(key, condition = {}) {
      const entry = entries.get(checkKey(key));
      if (entry === undefined) return { kind: "absent" };
      if (entry.etag === condition.ifNoneMatch) return { kind: "unchanged" };
      const { bytes, etag, modifiedMs } = entry;
      return { kind: "found", bytes: bytes.slice(), etag, ...(clock === undefined ? {} : { modifiedMs }) };
    },
    async put(key, bytes, condition = {}) {
      const entry = entries.get(checkKey(key));
      if (condition.ifNoneMatch === "*" && entry !== undefined) return { kind: "lost" };
      if (condition.ifMatch !== undefined && condition.ifMatch !== entry?.etag) return { kind: "lost" };
      writes += 1;
      const etag = `m${writes}`;
      entries.set(key, { bytes: bytes.slice(), etag, modifiedMs: now() });
      changed(key);
      return { kind: "stored", etag };
    },
    async *list(prefix, after = "") {
      const keys = [...entries.keys()].filter((key) => key.startsWith(prefix) && key > after).sort(byCodePoint);
      for (const key of keys) {
        const entry = entries.get(key);
        if (entry !== undefined) yield { key, sizeBytes: entry.bytes.length, modifiedMs: entry.modifiedMs };
      }
    },
    async folders(prefix) {
      return foldersOf(entries.keys(), prefix);
    },
    async delete(key) {
      if (entries.delete(checkKey(key))) changed(key);
    },
    watch(key, onChange) {
      const set = watchers.get(key) ?? new Set();
      watchers.set(key, set.add(onChange));
      return () => set.delete(onChange);
    },
    ...(clock === undefined ? {} : { time: async () => clock() }),
  };
}
