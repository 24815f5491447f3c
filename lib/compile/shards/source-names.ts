import { byCodePoint } from "../../config/diagnostic.ts";
import type { ObjectStore } from "../../storage/object-store.ts";

/** The names of all sources in a store, sorted. */
export const sourceNames = async (store: ObjectStore): Promise<readonly string[]> =>
  (await store.folders("sources/")).map(decodeURIComponent).sort(byCodePoint);
