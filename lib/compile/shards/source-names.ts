import { byCodePoint } from "../../config/diagnostic.ts";
import { encodeKeyPart, type ObjectStore } from "../../storage/object-store.ts";

/**
 * The names of all sources in a store, sorted. One short listing for each, however much it holds.
 *
 * @param expected names that may well be there: what follows them is listed at once, and not when they were found
 */
export async function sourceNames(store: ObjectStore, expected: Iterable<string> = []): Promise<readonly string[]> {
  const listings = new Map<string, Promise<string | undefined>>();
  const nextAfter = (after: string): Promise<string | undefined> => {
    const listing = listings.get(after) ?? firstPart(store, "sources/", after);
    // One that is not needed fails nobody.
    listing.catch(() => {});
    listings.set(after, listing);
    return listing;
  };
  for (const after of ["", ...Array.from(expected, (name) => pastSource(encodeKeyPart(name)))]) void nextAfter(after);
  const names: string[] = [];
  for (let part = await nextAfter(""); part !== undefined; part = await nextAfter(pastSource(part)))
    names.push(decodeURIComponent(part));
  return names.sort(byCodePoint);
}

/** Past everything in a source's folder: "0" is what comes after "/". */
const pastSource = (part: string): string => `sources/${part}0`;

/** What stands between a prefix and the next slash in the first key after a text. */
async function firstPart(store: ObjectStore, prefix: string, after: string): Promise<string | undefined> {
  for await (const { key } of store.list(prefix, after)) return key.slice(prefix.length).split("/")[0];
  return undefined;
}
