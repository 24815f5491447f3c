import { blobKey } from "../../base/blob.ts";
import { PortolanError } from "../../base/diagnostic.ts";
import type { ObjectStore } from "../../storage/object-store.ts";
import { onClock, storeClock } from "../head/clock.ts";
import { type ReadHead, readHead } from "../head/head.ts";
import { mendHistory } from "../head/head-copy.ts";
import { type KeptHistory, keptHistory } from "../head/history/kept-history.ts";
import { refuseLostHead } from "../head/lost-head.ts";
import { moveHead } from "../head/move-head.ts";
import { defaultPace } from "../head/plan-stages.ts";
import type { Trust } from "../head/signatures.ts";
import type { SigningJwk } from "../head/signing-keys.ts";
import { deleteWithin } from "./delete-objects.ts";
import {
  finishDeletion,
  type GcLedger,
  isInForce,
  maxBudgetMs,
  type OwnLedger,
  type ReadLedger,
  settledLedger,
  writeLedger,
} from "./gc-ledger.ts";

export interface GcOptions extends Trust {
  /** Roots that were served and stay, so that they can be rolled back to, besides what HEAD names. */
  readonly keepPublications: number;
  /**
   * How long an object is named before it goes, and how old it is before it is named: readers of an older root have time to move
   * on. Writers are safe whatever it is.
   */
  readonly graceMs: number;
  readonly now: () => number;
  /**
   * How long one run may go on deleting; a minute by default, a quarter of an hour at most. Publishers wait twice as long for one
   * that never ends.
   */
  readonly budgetMs?: number;
  /** Ends deleting early; what is left is deleted by a later run. */
  readonly signal?: AbortSignal;
  /** What else is collected besides blobs. */
  readonly others?: readonly Collectable[];
}

/** Objects below a prefix that are of use only as long as something names them. */
export interface Collectable {
  readonly prefix: string;
  /** How old an object is before it is named, at least. */
  readonly minAgeMs?: number;
  /** Whether an object stays. @param kept what of the history stays */
  stays(kept: KeptHistory, store: ObjectStore): Promise<(key: string) => boolean>;
}

export interface GcResult {
  /** False when a publisher or another collector came in between: nothing was deleted, try again later. */
  readonly done: boolean;
  readonly deleted: number;
  /** Objects that nothing names and that will go after the grace time. */
  readonly doomed: number;
  /** Blobs that are named. */
  readonly kept: number;
  /** The ledger was damaged, and was replaced: what it had named is named again first. */
  readonly isLedgerRenewed?: true;
}

const nothing = { deleted: 0, doomed: 0, kept: 0 };

/** So many names are written into the ledger at a time; the rest waits for the next run. */
const maxNames = 100_000;
/** The same on a disk that is full, whose reserve is small. */
const maxNamesWhenFull = 400;

/**
 * Deletes what nothing names, in two runs at least a grace time apart: the first names it, the second deletes what still is named.
 * Safe beside publishers and readers.
 */
export async function collectGarbage(store: ObjectStore, options: GcOptions): Promise<GcResult> {
  const nowMs = (await storeClock(store, options.now))();
  const read = await settledLedger(store);
  const before = read?.ledger;
  const base = await readHead(store, options);
  if (base === undefined) await refuseLostHead(store);
  await mendHistory(store);
  const history = await keptHistory(store, base?.head, options.keepPublications);
  const kept = history.blobs.size;
  if (before !== undefined && nowMs - Date.parse(before.since) < options.graceMs) {
    return { done: true, deleted: 0, doomed: before.doomed.length, kept };
  }

  const stays = await staying(store, history, options.others ?? []);
  const victims = before?.doomed.filter((name) => !stays(keyOfName(name))) ?? [];
  const budgetMs = Math.min(options.budgetMs ?? 60_000, maxBudgetMs);
  const startMs = performance.now();
  const claim: GcLedger = {
    since: new Date(nowMs).toISOString(),
    doomed: await unnamed(store, stays, new Set(victims), nowMs, options),
    deleted: victims,
    finished: victims.length === 0,
    budgetMs,
    oldest: Math.max(before?.oldest ?? 0, history.oldest),
  };
  // A publisher that started before may rely on what was deleted before the ledger was damaged. It loses; one that starts now, while the
  // ledger is damaged still, writes again what it relies on.
  const isRenewed = read !== undefined && before === undefined;
  if (isRenewed && base !== undefined && !(await fence(store, base, nowMs, options.signer)))
    return { done: false, ...nothing };
  const claimed = await announce(store, read, claim);
  if (claimed === undefined) return { done: false, ...nothing };
  const { ledger } = claimed;
  const doomed = ledger.doomed.length;
  if (ledger.deleted.length === 0)
    return { done: true, deleted: 0, doomed, kept, ...(isRenewed ? { isLedgerRenewed: true } : {}) };

  // Somebody who has published since the marking may name a victim: then they stay doomed for another time.
  const mayDelete = await fence(store, base, nowMs, options.signer);
  // By a clock that does not jump: past the announced time, publishers rely on no deletion of this run.
  const isOver = () => performance.now() - startMs >= budgetMs;
  const keys = mayDelete ? ledger.deleted.map(keyOfName) : [];
  const gone = await deleteWithin(store, keys, isOver, () => isInForce(store, claimed), options.signal);
  const deleted = gone.length;
  const left = ledger.deleted.slice(deleted);
  await finishDeletion(store, claimed, ledger.deleted.slice(0, deleted), left);
  return { done: mayDelete, deleted, doomed: doomed + left.length, kept };
}

/** Blobs are named by their hashes, everything else by its key. */
const keyOfName = (name: string): string => (name.includes("/") ? name : blobKey(name));
const nameOfKey = (key: string): string => (key.startsWith(blobPrefix) ? key.slice(key.lastIndexOf("/") + 1) : key);
const blobPrefix = "blobs/";

/** Whether what lies under a key stays. */
async function staying(
  store: ObjectStore,
  history: KeptHistory,
  others: readonly Collectable[],
): Promise<(key: string) => boolean> {
  const parts = await Promise.all(
    others.map(async (one) => ({ prefix: one.prefix, stays: await one.stays(history, store) })),
  );
  return (key) => {
    if (key.startsWith(blobPrefix)) return history.blobs.has(nameOfKey(key));
    // What nobody collects here, nobody deletes here.
    return parts.find(({ prefix }) => key.startsWith(prefix))?.stays(key) ?? true;
  };
}

/** Names of what does not stay and was written before the grace time. */
async function unnamed(
  store: ObjectStore,
  stays: (key: string) => boolean,
  victims: ReadonlySet<string>,
  nowMs: number,
  { graceMs, others = [] }: GcOptions,
): Promise<readonly string[]> {
  const names: string[] = [];
  for (const { prefix, minAgeMs = 0 } of [{ prefix: blobPrefix }, ...others]) {
    const beforeMs = nowMs - Math.max(graceMs, minAgeMs);
    for await (const { key, modifiedMs } of store.list(prefix)) {
      const name = nameOfKey(key);
      if (modifiedMs <= beforeMs && !victims.has(name) && !stays(key)) names.push(name);
      if (names.length >= maxNames) return names;
    }
  }
  return names;
}

/**
 * Writes the claim into the ledger. A disk that is full has something laid by for this, enough for a small claim.
 *
 * @returns the claim as it was written; undefined when somebody else wrote first
 */
async function announce(
  store: ObjectStore,
  read: ReadLedger | undefined,
  claim: GcLedger,
): Promise<OwnLedger | undefined> {
  // What is not deleted now is found unnamed again by a later run.
  const small = {
    ...claim,
    doomed: claim.doomed.slice(0, maxNamesWhenFull),
    deleted: claim.deleted.slice(0, maxNamesWhenFull),
  };
  return withRoom(
    store,
    () => writeLedger(store, read, claim),
    () => writeLedger(store, read, small),
  );
}

/** Writes, and writes again with what is laid by where the disk may be full. @param again what is written then; absent: the same */
async function withRoom<T>(store: ObjectStore, write: () => Promise<T>, again = write): Promise<T> {
  try {
    return await write();
  } catch (cause) {
    if (store.makeRoom === undefined || !(cause instanceof PortolanError)) throw cause;
    await store.makeRoom();
    return again();
  }
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
  const move = () => moveHead(store, base, { ...head, reason: "collect" }, nowMs, signer);
  return (await withRoom(store, move)) !== undefined;
}
