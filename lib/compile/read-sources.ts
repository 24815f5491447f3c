import { sha256 } from "../config/canonical-json.ts";
import { byCodePoint, PortolanError } from "../config/diagnostic.ts";
import type { CompiledSource } from "../snapshot/compiled.ts";
import type { ObjectStore } from "../storage/object-store.ts";
import { readShard, type SourceShard } from "./source-shard.ts";

/** The source that comes first where nobody says otherwise. */
const usualPrimary = "main";

/**
 * Reads every source that was ever filled; with versions only those, as they were then.
 *
 * @throws PortolanError when one of the versions is kept no more
 */
export type SourcesReader = (
  order: readonly string[],
  versions?: readonly CompiledSource[],
) => Promise<readonly SourceShard[]>;

/**
 * A reader that remembers texts, so that the next time only what changed is read.
 *
 * @returns a function of the sources that come first, in their order; the others follow by name, `main` before them
 */
export function createSourcesReader(store: ObjectStore): SourcesReader {
  let texts: ReadonlyMap<string, string> = new Map();
  return async (order, versions) => {
    const names = new Set([...order, usualPrimary, ...(await sourceNames(store))]);
    const wanted = new Map(versions?.map(({ name, version }) => [name, version]));
    const read = [...names].filter((name) => versions === undefined || wanted.has(name));
    const found = await Promise.all(read.map((name) => readShard(store, name, wanted.get(name), texts)));
    const shards = found.filter((shard) => shard !== undefined);
    if (shards.length < wanted.size) throw new PortolanError("what the sources held then is kept no more");
    const all = shards.flatMap(({ files, kept = [] }) => [...files, ...kept]);
    texts = new Map(all.map(({ text }) => [sha256(text), text] as const));
    return shards;
  };
}

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
