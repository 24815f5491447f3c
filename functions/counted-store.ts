import type { ObjectStore } from "../lib/storage/object-store.ts";

/**
 * A store whose operations are counted, for a platform that lets an invocation make so many and no more.
 *
 * @param most operations after which `spent` fires; the few that are left are for ending the work under way
 */
export function countedStore(
  store: ObjectStore,
  most: number,
): { readonly store: ObjectStore; readonly spent: AbortSignal } {
  const spent = new AbortController();
  let count = 0;
  const counted = () => {
    count += 1;
    if (count === most) spent.abort();
  };
  return {
    spent: spent.signal,
    store: {
      ...store,
      get(key, condition) {
        counted();
        return store.get(key, condition);
      },
      put(key, bytes, condition) {
        counted();
        return store.put(key, bytes, condition);
      },
      delete(key) {
        counted();
        return store.delete(key);
      },
    },
  };
}
