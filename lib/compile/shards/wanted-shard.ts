import { missedBlobKey, recordsToDrop, wantedMs, wantedPrefix } from "../../snapshot/wanted.ts";
import type { ObjectStore } from "../../storage/object-store.ts";
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
  const [all, filled] = await Promise.all([recordsIn(store), store.get(listKey(wantedSource))]);
  const listed = all.filter(({ key }) => key !== missedBlobKey);
  const found = { isBlobMissed: listed.length < all.length };
  // Nearly always there are none, and never were: then nobody need know how late it is.
  const records = listed.length === 0 ? [] : await recordsAt(store, listed, (await store.time?.()) ?? now());
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

interface ListedRecord {
  readonly key: string;
  readonly modifiedMs: number;
}

async function recordsIn(store: ObjectStore): Promise<readonly ListedRecord[]> {
  const records: ListedRecord[] = [];
  for await (const record of store.list(wantedPrefix)) records.push(record);
  return records;
}

/** Those that count; the others are deleted. */
async function recordsAt(
  store: ObjectStore,
  listed: readonly ListedRecord[],
  nowMs: number,
): Promise<readonly ListedRecord[]> {
  const isOver = ({ modifiedMs }: ListedRecord): boolean => modifiedMs <= nowMs - wantedMs;
  for (const record of listed) if (isOver(record)) await store.delete(record.key);
  return listed.filter((record) => !isOver(record));
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
