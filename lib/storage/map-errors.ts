import type { ObjectStore } from "./object-store.ts";

/**
 * Hands the errors of a store's calls to `fail`; those of its lists stay as they are.
 *
 * @param fail throws what callers are to see
 */
export const mapErrors = (store: ObjectStore, fail: (cause: unknown) => never): ObjectStore => ({
  ...store,
  get: (key, condition) => store.get(key, condition).catch(fail),
  put: (key, bytes, condition) => store.put(key, bytes, condition).catch(fail),
  folders: (prefix) => store.folders(prefix).catch(fail),
  delete: (key) => store.delete(key).catch(fail),
});
