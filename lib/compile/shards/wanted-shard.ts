import { missedBlobKey, recordsToDrop, wantedMs, wantedPrefix } from "../../snapshot/nodes/wanted.ts";
import type { ObjectStore } from "../../storage/object-store.ts";
import { recordsIn, withoutOld } from "./lists/left-records.ts";
import { listKey } from "./source-shard.ts";
import { writeShard } from "./write-shard.ts";

/** The source that holds the classes that nodes have asked for. */
const wantedSource = "wanted";

/**
 * Fills the source of wanted classes with the records that fronts have written, so that a root follows from its sources and from nothing
 * else. Records that are too old are deleted, and those that are too many.
 *
 * @param now the store's clock as well as it is known
 * @returns whether a front has reported a blob that is missing or damaged
 */
export async function fillWanted(store: ObjectStore, now: () => number): Promise<{ readonly isBlobMissed: boolean }> {
  const [all, filled] = await Promise.all([recordsIn(store, wantedPrefix), store.get(listKey(wantedSource))]);
  const listed = all.filter(({ key }) => key !== missedBlobKey);
  const found = { isBlobMissed: listed.length < all.length };
  const records = await withoutOld(store, listed, wantedMs, now);
  if (records.length === 0 && filled.kind === "absent") return found;
  const byAge = records.toSorted((a, b) => a.modifiedMs - b.modifiedMs || (a.key < b.key ? -1 : 1));
  const dropped = new Set(recordsToDrop(byAge));
  for (const { key } of dropped) await store.delete(key);
  const kept = byAge.filter((record) => !dropped.has(record));
  const texts = await Promise.all(kept.map(({ key }) => textOf(store, key)));
  const lines = [...new Set(texts.filter(isObject))].sort().map((text) => `  - ${text}\n`);
  const text = lines.length === 0 ? "{}\n" : `proxies:\n${lines.join("")}`;
  await writeShard(store, wantedSource, [{ file: "portolan.yaml", text }], { allowEmpty: true });
  return found;
}

async function textOf(store: ObjectStore, key: string): Promise<string> {
  const found = await store.get(key);
  return found.kind === "found" ? new TextDecoder().decode(found.bytes) : "";
}

/** A record is one line of JSON: what lies there besides would be read as something else. */
function isObject(text: string): boolean {
  try {
    const json: unknown = JSON.parse(text);
    return typeof json === "object" && json !== null && !Array.isArray(json) && !text.includes("\n");
  } catch {
    return false;
  }
}
