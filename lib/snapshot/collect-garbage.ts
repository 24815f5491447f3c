import type { ObjectStore } from "../storage/object-store.ts";
import { blobKey } from "./blob.ts";
import { onClock, storeClock } from "./clock.ts";
import { finishDeletion, type GcLedger, settledLedger, writeLedger } from "./gc-ledger.ts";
import { type ReadHead, readHead, rootsOfHead } from "./head.ts";
import { type HistoryEntry, readHistory } from "./history.ts";
import { moveHead } from "./move-head.ts";
import { reachableFrom } from "./reachable.ts";
import type { Trust } from "./signatures.ts";
import type { SigningJwk } from "./signing-keys.ts";
import { createSnapshotReader } from "./snapshot-reader.ts";
import { defaultPace } from "./steps.ts";

export interface GcOptions extends Trust {
  /** Publications whose roots stay, besides what HEAD names; older ones can no longer be rolled back to. */
  readonly keepPublications: number;
  /**
   * How long a blob is named before it goes, and how old it is before it is named: readers of an older root have time to move
   * on. Publishers are safe whatever it is.
   */
  readonly graceMs: number;
  readonly now: () => number;
  /** How long one run may go on deleting; a minute by default. Publishers wait twice as long for one that never ends. */
  readonly budgetMs?: number;
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
  const nowMs = (await storeClock(store, options.now))();
  const read = await settledLedger(store);
  const before = read?.ledger;
  const base = await readHead(store, options);
  const marked = await mark(store, base, options.keepPublications);
  const kept = marked.size;
  if (before !== undefined && nowMs - Date.parse(before.since) < options.graceMs) {
    return { done: true, deleted: 0, doomed: before.doomed.length, kept };
  }

  const victims = before?.doomed.filter((hash) => !marked.has(hash)) ?? [];
  const doomed = await unnamed(store, new Set([...marked, ...victims]), nowMs - options.graceMs);
  const budgetMs = options.budgetMs ?? 60_000;
  const since = new Date(nowMs).toISOString();
  const startMs = performance.now();
  const claim: GcLedger = { since, doomed, deleted: victims, finished: victims.length === 0, budgetMs };
  if (!(await writeLedger(store, read, claim))) return { done: false, ...nothing };
  if (victims.length === 0) return { done: true, deleted: 0, doomed: doomed.length, kept };

  // Somebody who has published since the marking may name a victim: then they stay doomed for another time.
  const mayDelete = await fence(store, base, nowMs, options.signer);
  let deleted = 0;
  for (const hash of mayDelete ? victims : []) {
    // By a clock that does not jump: past the announced time, publishers write the rest anew.
    if (performance.now() - startMs >= budgetMs) break;
    await store.delete(blobKey(hash));
    deleted += 1;
  }
  const left = victims.slice(deleted);
  await finishDeletion(store, victims.slice(0, deleted), left);
  return { done: mayDelete, deleted, doomed: doomed.length + left.length, kept };
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

/**
 * Moves HEAD on without changing what it says. A publisher that started before, and may have found a victim in place, now loses;
 * one that starts after sees in the ledger what is deleted. So nothing depends on how long a publish takes.
 */
async function fence(
  store: ObjectStore,
  base: ReadHead | undefined,
  nowMs: number,
  signer: SigningJwk | undefined,
): Promise<boolean> {
  // Whoever publishes first depends on no HEAD, so nothing can make it lose.
  if (base === undefined) return false;
  const head = onClock(base, nowMs, defaultPace);
  return (await moveHead(store, base, { ...head, reason: "collect" }, nowMs, signer)) !== undefined;
}

/** Every blob that HEAD or the kept part of its history names. */
async function mark(
  store: ObjectStore,
  read: ReadHead | undefined,
  keepPublications: number,
): Promise<ReadonlySet<string>> {
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
