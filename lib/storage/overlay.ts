import { byCodePoint } from "../base/diagnostic.ts";
import { memoryStore } from "./memory.ts";
import type { ListedObject, ObjectStore } from "./object-store.ts";

/**
 * A store as it would be after some writes: they stay in this process's memory, everything else is read from the store below.
 * For trying what would come of something. Nothing is deleted.
 */
export function overlayStore(below: ObjectStore): ObjectStore {
  const above = memoryStore();
  return {
    async get(key, condition) {
      const found = await above.get(key, condition);
      return found.kind === "absent" ? below.get(key, condition) : found;
    },
    async put(key, bytes, condition = {}) {
      if ((await above.get(key)).kind !== "absent") return above.put(key, bytes, condition);
      const found = await below.get(key);
      const isThere = found.kind === "found";
      if (condition.ifNoneMatch === "*" && isThere) return { kind: "lost" };
      if (condition.ifMatch !== undefined && !(isThere && found.etag === condition.ifMatch)) return { kind: "lost" };
      return above.put(key, bytes);
    },
    async *list(prefix, after) {
      const objects = new Map<string, ListedObject>();
      for await (const object of below.list(prefix, after)) objects.set(object.key, object);
      for await (const object of above.list(prefix, after)) objects.set(object.key, object);
      yield* [...objects.values()].sort((a, b) => byCodePoint(a.key, b.key));
    },
    async folders(prefix) {
      const names = await Promise.all([below.folders(prefix), above.folders(prefix)]);
      return [...new Set(names.flat())].sort(byCodePoint);
    },
    async delete() {},
  };
}
