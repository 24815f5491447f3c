import type { ObjectStore } from "../storage/object-store.ts";
import { blobKey } from "./blob.ts";
import { readLedger, writeLedger } from "./gc-ledger.ts";
import { type HistoryEntry, readHistory } from "./history.ts";
import { reachableFrom, rootsOfHead } from "./reachable.ts";
import { createSnapshotReader, readHead } from "./snapshot-reader.ts";

export interface GcOptions {
  /** Publications whose roots stay, besides what HEAD names; older ones can no longer be rolled back to. */
  readonly keepPublications: number;
  /**
   * How long a blob is named before it goes. Longer than any publish takes (`maxPublishMs`) and than clocks are apart.
   */
  readonly graceMs: number;
  readonly now: () => number;
}

export interface GcResult {
  /** False when a publisher or another collector came in between: nothing was deleted, try again later. */
  readonly done: boolean;
  readonly deleted: number;
  /** Blobs that nothing names and that will go after the grace time. */
  readonly doomed: number;
  readonly kept: number;
}

const nothing = { deleted: 0, doomed: 0, kept: 0 };

/**
 * Deletes blobs that nothing names, in two runs at least a grace time apart: the first names them, the second deletes those that
 * still are named. Safe beside publishers and readers.
 */
export async function collectGarbage(store: ObjectStore, options: GcOptions): Promise<GcResult> {
  const nowMs = options.now();
  const read = await readLedger(store);
  const before = read?.ledger;
  if (before !== undefined && nowMs < Date.parse(before.until)) return { done: false, ...nothing };
  const marked = await mark(store, options.keepPublications);
  const kept = marked.size;
  if (before !== undefined && nowMs - Date.parse(before.since) < options.graceMs) {
    return { done: true, deleted: 0, doomed: before.doomed.length, kept };
  }

  const victims = before?.doomed.filter((hash) => !marked.has(hash)) ?? [];
  const doomed = await unnamed(store, new Set([...marked, ...victims]), nowMs - options.graceMs);
  const since = new Date(nowMs).toISOString();
  const untilMs = nowMs + (victims.length === 0 ? 0 : deletionMs(victims.length));
  const claim = { since, doomed, deleted: victims, until: new Date(untilMs).toISOString() };
  if (!(await writeLedger(store, read, claim))) return { done: false, ...nothing };
  let deleted = 0;
  for (const hash of victims) {
    // Past the time that was announced, publishers may be writing the rest anew.
    if (options.now() >= untilMs) break;
    await store.delete(blobKey(hash));
    deleted += 1;
  }
  // Publishers need not wait for the rest of the time; if one has changed the ledger meanwhile, they will.
  const claimed = await readLedger(store);
  if (deleted === victims.length && claimed?.ledger.since === since) {
    await writeLedger(store, claimed, {
      ...claimed.ledger,
      until: new Date(Math.min(options.now(), untilMs)).toISOString(),
    });
  }
  return { done: true, deleted, doomed: doomed.length, kept };
}

/** Blobs that are not in `named` and were written before a time. */
async function unnamed(store: ObjectStore, named: ReadonlySet<string>, beforeMs: number): Promise<readonly string[]> {
  const hashes: string[] = [];
  for await (const { key, modifiedMs } of store.list("blobs/")) {
    const hash = key.slice(key.lastIndexOf("/") + 1);
    if (!named.has(hash) && modifiedMs <= beforeMs) hashes.push(hash);
  }
  return hashes;
}

/** Time for deleting so many blobs one after the other, with room. */
const deletionMs = (count: number): number => 60_000 + count * 200;

/** Every blob that HEAD or the kept part of its history names. */
async function mark(store: ObjectStore, keepPublications: number): Promise<ReadonlySet<string>> {
  const read = await readHead(store);
  const marked = new Set<string>();
  if (read === undefined) return marked;
  const reader = createSnapshotReader(store);
  const roots = new Set(rootsOfHead(read.head));
  for (const entry of await newest(readHistory(reader, read.head.publication), keepPublications)) {
    marked.add(entry.hash);
    roots.add(entry.root);
  }
  for (const root of roots) for (const hash of await reachableFrom(reader, root)) marked.add(hash);
  return marked;
}

async function newest(history: AsyncIterable<HistoryEntry>, count: number): Promise<readonly HistoryEntry[]> {
  const entries: HistoryEntry[] = [];
  for await (const entry of history) {
    entries.push(entry);
    if (entries.length >= Math.max(count, 1)) break;
  }
  return entries;
}
