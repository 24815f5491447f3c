import type { ObjectStore } from "../../storage/object-store.ts";

/**
 * What is about to be deleted: the one object through which collecting garbage and publishing see each other. An object is first
 * named here, and deleted a grace time later if nothing names it then; a publisher that finds a named object in place takes it off
 * the list, or waits for the end of its deletion and writes it anew. A publisher that read HEAD before a deletion was announced
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
  readonly ledger: GcLedger;
  readonly etag: string;
}

const ledgerKey = "gc/ledger";

export async function readLedger(store: ObjectStore): Promise<ReadLedger | undefined> {
  const found = await store.get(ledgerKey);
  if (found.kind !== "found") return undefined;
  // Written below only.
  return { ledger: JSON.parse(new TextDecoder().decode(found.bytes)), etag: found.etag };
}

/** @returns false when the ledger is no longer what `base` says */
export async function writeLedger(
  store: ObjectStore,
  base: ReadLedger | undefined,
  ledger: GcLedger,
): Promise<boolean> {
  // A number of its own keeps the bytes from repeating, on which compare-and-swap relies.
  const bytes = new TextEncoder().encode(JSON.stringify({ ...ledger, serial: crypto.randomUUID() }));
  const condition = base === undefined ? ({ ifNoneMatch: "*" } as const) : { ifMatch: base.etag };
  return (await store.put(ledgerKey, bytes, condition)).kind === "stored";
}

/** Says that the deletion under way is over, and names what it has left for another time. */
export async function finishDeletion(
  store: ObjectStore,
  deleted: readonly string[],
  left: readonly string[],
): Promise<void> {
  for (;;) {
    const read = await readLedger(store);
    if (read === undefined || read.ledger.finished) return;
    const doomed = [...read.ledger.doomed, ...left];
    if (await writeLedger(store, read, { ...read.ledger, doomed, deleted, finished: true })) return;
  }
}

/**
 * The ledger when no deletion is under way. One that does not end in twice its time is taken for dead: the time is measured here,
 * from when it was first seen, so that no two clocks have to agree.
 */
export async function settledLedger(store: ObjectStore): Promise<ReadLedger | undefined> {
  const startMs = performance.now();
  for (;;) {
    const read = await readLedger(store);
    if (read === undefined || read.ledger.finished) return read;
    const { budgetMs } = read.ledger;
    if (performance.now() - startMs > 2 * budgetMs) await writeLedger(store, read, { ...read.ledger, finished: true });
    else await new Promise((resolve) => setTimeout(resolve, Math.min(100, budgetMs / 4)));
  }
}

/**
 * Makes sure that what a writer found in place stays there: takes them off the list of the doomed.
 *
 * @returns those that a deletion may have taken after they were found; it is over, and they have to be written again
 */
export async function rescue(store: ObjectStore, names: ReadonlySet<string>): Promise<readonly string[]> {
  for (;;) {
    const read = await settledLedger(store);
    if (read === undefined) return [];
    const { ledger } = read;
    const doomed = ledger.doomed.filter((name) => !names.has(name));
    if (doomed.length === ledger.doomed.length || (await writeLedger(store, read, { ...ledger, doomed }))) {
      return ledger.deleted.filter((name) => names.has(name));
    }
  }
}
