import type { ObjectStore } from "./object-store.ts";

/**
 * Hands the errors of a store's calls and lists to `fail`.
 *
 * @param fail throws what callers are to see
 */
export const mapErrors = (store: ObjectStore, fail: (cause: unknown) => never): ObjectStore => ({
  ...store,
  get: (key, condition) => store.get(key, condition).catch(fail),
  put: (key, bytes, condition) => store.put(key, bytes, condition).catch(fail),
  async *list(prefix, after) {
    try {
      yield* store.list(prefix, after);
    } catch (cause) {
      fail(cause);
    }
  },
  folders: (prefix) => store.folders(prefix).catch(fail),
  delete: (key) => store.delete(key).catch(fail),
});
