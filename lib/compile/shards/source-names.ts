import { byCodePoint } from "../../config/diagnostic.ts";
import type { ObjectStore } from "../../storage/object-store.ts";

/** The names of all sources in a store, sorted. One short listing for each, however much it holds. */
export async function sourceNames(store: ObjectStore): Promise<readonly string[]> {
  const names: string[] = [];
  for (let after: string | undefined = ""; after !== undefined; ) {
    const part = await firstPart(store, "sources/", after);
    if (part !== undefined) names.push(decodeURIComponent(part));
    // "0" is what comes after "/": past everything in this source's folder.
    after = part === undefined ? undefined : `sources/${part}0`;
  }
  return names.sort(byCodePoint);
}

/** What stands between a prefix and the next slash in the first key after a text. */
async function firstPart(store: ObjectStore, prefix: string, after: string): Promise<string | undefined> {
  for await (const { key } of store.list(prefix, after)) return key.slice(prefix.length).split("/")[0];
  return undefined;
}
