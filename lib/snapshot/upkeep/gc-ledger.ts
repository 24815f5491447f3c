import { isRecord } from "../../base/classifier.ts";
import type { ObjectStore } from "../../storage/object-store.ts";

/**
 * What is about to be deleted: the one object through which collecting garbage and publishing see each other. An object is first
 * named here, and deleted a grace time later if nothing names it then; a publisher that finds a named object in place takes it off
 * the list, or waits for the end of its deletion and writes it again. A publisher that read HEAD before a deletion was announced
 * finds HEAD moved (`collectGarbage` does that) and loses.
 */
export interface GcLedger {
  /** When they were named, RFC 3339. */
  readonly since: string;
  /** Blobs by their hashes, other objects by their keys. */
  readonly doomed: readonly string[];
  /** What the last deletion has taken, or is taking. */
  readonly deleted: readonly string[];
  /** False while a deletion is under way, or was when its process died. */
  readonly finished: boolean;
  /** How long a deletion goes on at most after it was announced here. */
  readonly budgetMs: number;
  /** Generation of the oldest publication that stays; absent in ledgers of earlier versions, 0 when all stay. */
  readonly oldest?: number;
}

export interface ReadLedger {
  /**
   * Undefined where the object holds no ledger: it was emptied or written over. It then announces no deletion, and nothing is deleted
   * because of it. What was deleted before is unknown, so a publisher writes again whatever it relies on.
   */
  readonly ledger: GcLedger | undefined;
  readonly etag: string;
}

/** A ledger as this process has written it. */
export interface OwnLedger extends ReadLedger {
  readonly ledger: GcLedger;
}

export const ledgerKey = "gc/ledger";

/** Publishers wait twice as long for a deletion that never ends. */
export const maxBudgetMs = 900_000;

export async function readLedger(store: ObjectStore): Promise<ReadLedger | undefined> {
  const found = await store.get(ledgerKey);
  if (found.kind !== "found") return undefined;
  return { ledger: ledgerIn(new TextDecoder().decode(found.bytes)), etag: found.etag };
}

function ledgerIn(text: string): GcLedger | undefined {
  try {
    const json: unknown = JSON.parse(text);
    return isLedger(json) ? json : undefined;
  } catch {
    return undefined;
  }
}

const isLedger = (json: unknown): json is GcLedger =>
  isRecord(json) &&
  typeof json.since === "string" &&
  !Number.isNaN(Date.parse(json.since)) &&
  areNames(json.doomed) &&
  areNames(json.deleted) &&
  typeof json.finished === "boolean" &&
  isUpTo(json.budgetMs, maxBudgetMs) &&
  (json.oldest === undefined || isUpTo(json.oldest, Number.MAX_SAFE_INTEGER));

const areNames = (value: unknown): boolean =>
  Array.isArray(value) && value.every((name) => typeof name === "string" && name !== "");

const isUpTo = (value: unknown, most: number): boolean => typeof value === "number" && value >= 0 && value <= most;

/** @returns the ledger as it was written; undefined when it is no longer what `base` says */
export async function writeLedger(
  store: ObjectStore,
  base: ReadLedger | undefined,
  ledger: GcLedger,
): Promise<OwnLedger | undefined> {
  // A number of its own keeps the bytes from repeating, on which compare-and-swap relies.
  const bytes = new TextEncoder().encode(JSON.stringify({ ...ledger, serial: crypto.randomUUID() }));
  const condition = base === undefined ? ({ ifNoneMatch: "*" } as const) : { ifMatch: base.etag };
  const put = await store.put(ledgerKey, bytes, condition);
  return put.kind === "stored" ? { ledger, etag: put.etag } : undefined;
}

/** What the last collection of garbage did. */
export interface LastCollection {
  /** When it named what is unused, RFC 3339. */
  readonly at: string;
  /** Objects that it has deleted, or is deleting. */
  readonly deleted: number;
  /** Unused objects that a later one deletes. */
  readonly doomed: number;
}

/** @returns undefined where garbage was never collected, or the ledger is damaged */
export async function lastCollection(store: ObjectStore): Promise<LastCollection | undefined> {
  const ledger = (await readLedger(store))?.ledger;
  return ledger && { at: ledger.since, deleted: ledger.deleted.length, doomed: ledger.doomed.length };
}

/** Whether the ledger is still the one that was written: publishers see what it announces. */
export const isInForce = async (store: ObjectStore, { etag }: OwnLedger): Promise<boolean> =>
  (await store.get(ledgerKey, { ifNoneMatch: etag })).kind === "unchanged";

/**
 * Says that the deletion under way is over, and names what it has left for another time. A ledger that is no longer the announced one is
 * left as it is: a publisher has taken the deletion for dead, or the ledger was damaged.
 */
export async function finishDeletion(
  store: ObjectStore,
  own: OwnLedger,
  deleted: readonly string[],
  left: readonly string[],
): Promise<void> {
  const doomed = [...own.ledger.doomed, ...left];
  await writeLedger(store, own, { ...own.ledger, doomed, deleted, finished: true });
}

/**
 * The ledger when no deletion is under way. One that does not end in twice its time is taken for dead: the time is measured here,
 * from when it was first seen, so that no two clocks have to agree.
 */
export async function settledLedger(store: ObjectStore): Promise<ReadLedger | undefined> {
  const startMs = performance.now();
  for (;;) {
    const read = await readLedger(store);
    const ledger = read?.ledger;
    if (read === undefined || ledger === undefined || ledger.finished) return read;
    const { budgetMs } = ledger;
    if (performance.now() - startMs > 2 * budgetMs) await writeLedger(store, read, { ...ledger, finished: true });
    else await new Promise((resolve) => setTimeout(resolve, Math.min(100, budgetMs / 4)));
  }
}

/**
 * Makes sure that what a writer found in place stays there: takes them off the list of the doomed.
 *
 * @returns those that a deletion may have taken after they were found; it is over, and they have to be written again
 */
export async function retainBlobs(store: ObjectStore, names: ReadonlySet<string>): Promise<readonly string[]> {
  for (;;) {
    const read = await settledLedger(store);
    if (read === undefined) return [];
    const { ledger } = read;
    // A deletion may have ended before the ledger was damaged. One that goes on puts back what it deletes from now on.
    if (ledger === undefined) return [...names];
    const doomed = ledger.doomed.filter((name) => !names.has(name));
    if (
      doomed.length === ledger.doomed.length ||
      (await writeLedger(store, read, { ...ledger, doomed })) !== undefined
    ) {
      return ledger.deleted.filter((name) => names.has(name));
    }
  }
}
