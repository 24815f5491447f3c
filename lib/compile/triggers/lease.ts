import { PortolanError } from "../../base/diagnostic.ts";
import type { ObjectStore } from "../../storage/object-store.ts";
import type { Clock } from "../clock.ts";
import { firstNote, type LeaseNote, leaseKey, noteText, type Outcome, readNote } from "./lease-note.ts";

/** A lease with what the store says of it. */
export interface SeenLease {
  readonly note: LeaseNote;
  /** Undefined where there is none yet. */
  readonly etag: string | undefined;
}

/** One process's hold on the lease. Its sign of life is renewed until it ends. */
export interface HeldLease {
  readonly turn: number;
  /** How many processes in a row have ended in the midst of a turn before this one. */
  readonly deaths: number;
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
  /** Seen without a sign of life for so long a holder counts as dead; it gives one three times as often. */
  readonly leaseMs: number;
  readonly clock: Clock;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly onError: (cause: unknown) => void;
}

const utf8 = (text: string) => new TextEncoder().encode(text);

export async function seeLease(store: ObjectStore): Promise<SeenLease> {
  const found = await store.get(leaseKey);
  if (found.kind !== "found") return { note: firstNote, etag: undefined };
  return { note: readNote(new TextDecoder().decode(found.bytes)), etag: found.etag };
}

/**
 * Watches for signs of life. Only what a holder writes is one, and only time that this process has spent waiting counts: clocks of two
 * processes are never compared, and while this process is busy no time passes for the holder either.
 *
 * @returns a function that is shown the lease and how long was waited since it was read before; it says for how long, in milliseconds, no
 * sign was seen
 */
export function createSilence(): (note: LeaseNote, waitedMs: number) => number {
  let last = "";
  let silentMs = 0;
  return ({ holder, turn, state, atMs }, waitedMs) => {
    const sign = `${holder} ${turn} ${state} ${atMs}`;
    silentMs = sign === last ? silentMs + waitedMs : 0;
    last = sign;
    return silentMs;
  };
}

/** Another time than the last: whether it is another is all that is read of it. */
const signAfter = ({ atMs }: LeaseNote, nowMs: number): Pick<LeaseNote, "atMs"> => ({
  atMs: nowMs === atMs ? nowMs + 1 : nowMs,
});

/** Replaces a lease as it was seen. @returns undefined when somebody else was first */
export async function writeLease(
  store: ObjectStore,
  { note, etag }: SeenLease,
  change: Partial<LeaseNote>,
): Promise<SeenLease | undefined> {
  const next = { ...note, ...change, serial: note.serial + 1 };
  const condition = etag === undefined ? ({ ifNoneMatch: "*" } as const) : { ifMatch: etag };
  const put = await store.put(leaseKey, utf8(noteText(next)), condition);
  return put.kind === "stored" ? { note: next, etag: put.etag } : undefined;
}

/**
 * Takes a lease that is free, or whose holder is dead.
 *
 * @param turn the number of the compile; absent: one that counts for nobody but the taker
 * @param deaths how many processes in a row have ended in the midst of a turn
 * @returns undefined when somebody else was first
 */
export async function takeLease(
  store: ObjectStore,
  seen: SeenLease,
  { turn, deaths }: { readonly turn: number | undefined; readonly deaths: number },
  { holder, leaseMs, clock, now, onError }: LeaseOptions,
): Promise<HeldLease | undefined> {
  const taken = await writeLease(store, seen, {
    holder,
    ...signAfter(seen.note, now()),
    deaths,
    ...(turn === undefined ? { state: "running" } : { state: "gathering", turn }),
  });
  if (taken === undefined) return undefined;
  let current: SeenLease = taken;
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
        const written = await writeLease(store, current, { ...fields, ...signAfter(current.note, now()) });
        if (written !== undefined) {
          current = written;
          return true;
        }
        // Whoever asks writes too; the lease is lost only to another holder.
        follow(await seeLease(store));
      }
      return false;
    });
    queue = done.catch(() => {});
    return done;
  };
  const refuse = () => {
    throw new PortolanError(
      `${current.note.holder || "something else"} has taken over the lease of this compile, which had given no sign of life; what it made is not published`,
    );
  };
  const endRenewal = clock.every(leaseMs / 3, () => {
    update(() => ({})).catch(onError);
  });

  return {
    turn: taken.note.turn,
    deaths,
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
      if (!lost) follow(await seeLease(store));
      if (lost) refuse();
    },
    async end(outcome) {
      endRenewal();
      await update(() => ({
        state: "free",
        deaths: 0,
        ...(outcome === undefined ? {} : { ended: current.note.turn, outcome }),
      })).catch(onError);
    },
  };
}
