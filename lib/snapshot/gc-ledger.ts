import type { ObjectStore } from "../storage/object-store.ts";

/**
 * What is about to be deleted: the one object through which collecting garbage and publishing see each other. A blob is first
 * named here, and deleted a grace time later if nothing names it then; a publisher that finds a named blob in place takes it off
 * the list, or waits for the end of its deletion and writes it anew.
 */
export interface GcLedger {
  /** When the blobs were named, RFC 3339. */
  readonly since: string;
  readonly doomed: readonly string[];
  /** What the last deletion took or is taking; it is over at `until` at the latest. */
  readonly deleted: readonly string[];
  readonly until: string;
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

/**
 * Makes sure that blobs which a publisher found in place stay there: takes them off the list of the doomed.
 *
 * @returns those that a deletion may have taken after they were found; it is over, and they have to be written again
 */
export async function rescue(
  store: ObjectStore,
  hashes: ReadonlySet<string>,
  now: () => number,
): Promise<readonly string[]> {
  for (;;) {
    const read = await readLedger(store);
    if (read === undefined) return [];
    const { ledger } = read;
    const deleted = ledger.deleted.filter((hash) => hashes.has(hash));
    if (deleted.length > 0 && now() < Date.parse(ledger.until)) {
      await new Promise((resolve) => setTimeout(resolve, 100));
      continue;
    }
    const doomed = ledger.doomed.filter((hash) => !hashes.has(hash));
    if (doomed.length === ledger.doomed.length) return deleted;
    if (await writeLedger(store, read, { ...ledger, doomed })) return deleted;
  }
}
