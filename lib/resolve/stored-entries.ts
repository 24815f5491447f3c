/** Objects of the store that hold a JSON object, entry by entry, and are replaced by compare-and-swap. */
import { isFields, jsonIn } from "../base/untyped.ts";
import type { ObjectStore } from "../storage/object-store.ts";

export interface StoredEntries<T> {
  readonly entries: ReadonlyMap<string, T>;
  /** Of the object that was read; undefined where there is none. */
  readonly etag: string | undefined;
}

/** Reads an object. What is no JSON object has no entries; an entry of another form is left out. */
export async function readEntries<T>(
  store: ObjectStore,
  key: string,
  isEntry: (value: unknown) => value is T,
): Promise<StoredEntries<T>> {
  const found = await store.get(key);
  if (found.kind !== "found") return { entries: new Map(), etag: undefined };
  const json = jsonIn(new TextDecoder().decode(found.bytes));
  const entries = Object.entries(isFields(json) ? json : {}).flatMap(([name, value]): [string, T][] =>
    isEntry(value) ? [[name, value]] : [],
  );
  return { entries: new Map(entries), etag: found.etag };
}

/** @returns false where somebody else has written the object since it was read */
export async function writeEntries<T>(
  store: ObjectStore,
  key: string,
  { entries, etag }: StoredEntries<T>,
): Promise<boolean> {
  const bytes = new TextEncoder().encode(JSON.stringify(Object.fromEntries(entries)));
  const condition = etag === undefined ? ({ ifNoneMatch: "*" } as const) : { ifMatch: etag };
  return (await store.put(key, bytes, condition)).kind !== "lost";
}
