import { byCodePoint } from "../../base/diagnostic.ts";
import type { ObjectStore } from "../../storage/object-store.ts";

/** The names of all sources in a store, sorted. */
export const sourceNames = async (store: ObjectStore): Promise<readonly string[]> =>
  (await store.folders("sources/")).map(decodeURIComponent).sort(byCodePoint);

/** Whether the file in an origin is one of a source that is not the primary: those begin with the source's name. */
export const isFileOf = (name: string, file: string): boolean => file === name || file.startsWith(`${name}/`);

/** What precedes the names of a source's files in messages. */
export const filePrefixOf = (name: string, isPrimary: boolean): string => (isPrimary ? "" : `${name}/`);
