import { PortolanError } from "../../config/diagnostic.ts";
import type { ObjectStore } from "../../storage/object-store.ts";
import { firstNote, type LeaseNote, leaseKey, noteText, type Outcome, readNote } from "./lease-note.ts";

/** A lease with what the store says of it. */
export interface SeenLease {
  readonly note: LeaseNote;
  /** Undefined where there is none yet. */
  readonly etag: string | undefined;
  /** How long ago its holder gave a sign of life: by the store's clock where it has one, else by the holder's and ours. */
  readonly ageMs: number;
}

/** One process's hold on the lease. Its sign of life is renewed until it ends. */
export interface HeldLease {
  readonly turn: number;
  /** Lets the turn begin unless somebody has asked since `seen`. @returns who asked through the lease, or `more` */
  begin(): Promise<"more" | LeaseNote["asks"]>;
  /** @throws PortolanError when somebody else has taken the lease, so that what was made must not be published */
  verify(): Promise<void>;
  /** Gives it back; a failure to do so costs others the wait until it is old. */
  end(outcome: Outcome | undefined): Promise<void>;
}

export interface LeaseOptions {
  /** Names this process. */
  readonly holder: string;
  /** Without a sign of life for so long a holder counts as dead. */
  readonly leaseMs: number;
  readonly now: () => number;
  readonly onError: (cause: unknown) => void;
}

const utf8 = (text: string) => new TextEncoder().encode(text);

export async function seeLease(store: ObjectStore, now: () => number): Promise<SeenLease> {
  const found = await store.get(leaseKey);
  if (found.kind !== "found") return { note: firstNote, etag: undefined, ageMs: 0 };
  const note = readNote(new TextDecoder().decode(found.bytes));
  const storeMs = found.modifiedMs === undefined ? undefined : await store.time?.();
  // In either direction: the clock of whoever has died may have been ahead.
  const ageMs =
    storeMs === undefined || found.modifiedMs === undefined
      ? Math.abs(now() - note.atMs)
      : Math.max(0, storeMs - found.modifiedMs);
  return { note, etag: found.etag, ageMs };
}

/** Replaces a lease as it was seen. @returns undefined when somebody else was first */
export async function writeLease(
  store: ObjectStore,
  { note, etag }: Pick<SeenLease, "note" | "etag">,
  change: Partial<LeaseNote>,
): Promise<Pick<SeenLease, "note" | "etag"> | undefined> {
  const next = { ...note, ...change, serial: note.serial + 1 };
  const condition = etag === undefined ? ({ ifNoneMatch: "*" } as const) : { ifMatch: etag };
  const put = await store.put(leaseKey, utf8(noteText(next)), condition);
  return put.kind === "stored" ? { note: next, etag: put.etag } : undefined;
}

/**
 * Takes a lease that is free, or whose holder is dead.
 *
 * @param turn the number of the compile; absent: one that counts for nobody but the taker
 * @returns undefined when somebody else was first
 */
export async function takeLease(
  store: ObjectStore,
  seen: SeenLease,
  turn: number | undefined,
  { holder, leaseMs, now, onError }: LeaseOptions,
): Promise<HeldLease | undefined> {
  const taken = await writeLease(store, seen, {
    holder,
    atMs: now(),
    ...(turn === undefined ? { state: "running" } : { state: "gathering", turn }),
  });
  if (taken === undefined) return undefined;
  let current: Pick<SeenLease, "note" | "etag"> = taken;
  let lost = false;
  let asks = taken.note.asks;
  let queue: Promise<unknown> = Promise.resolve();

  const follow = (seen: SeenLease) => {
    const { note } = seen;
    lost = note.holder !== holder || note.turn !== current.note.turn || note.state === "free";
    current = seen;
  };
  /** One write after the other: each needs the tag of the one before. */
  const update = (change: () => Partial<LeaseNote> | undefined): Promise<boolean> => {
    const done = queue.then(async () => {
      while (!lost) {
        const fields = change();
        if (fields === undefined) return false;
        const written = await writeLease(store, current, { ...fields, atMs: now() });
        if (written !== undefined) {
          current = written;
          return true;
        }
        // Whoever asks writes too; the lease is lost only to another holder.
        follow(await seeLease(store, now));
      }
      return false;
    });
    queue = done.catch(() => {});
    return done;
  };
  const refuse = () => {
    throw new PortolanError(
      `${current.note.holder} has taken over the lease of this compile, which had given no sign of life; what it made is not published`,
    );
  };
  const renewal = setInterval(() => {
    update(() => ({})).catch(onError);
  }, leaseMs / 3);

  return {
    turn: taken.note.turn,
    async begin() {
      const begun = await update(() => {
        const isMore = current.note.asks.length > asks.length;
        asks = current.note.asks;
        return isMore ? undefined : { state: "running", asks: [] };
      });
      if (lost) refuse();
      return begun ? asks : "more";
    },
    async verify() {
      await queue;
      if (!lost) follow(await seeLease(store, now));
      if (lost) refuse();
    },
    async end(outcome) {
      clearInterval(renewal);
      await update(() => ({
        state: "free",
        ...(outcome === undefined ? {} : { ended: current.note.turn, outcome }),
      })).catch(onError);
    },
  };
}
