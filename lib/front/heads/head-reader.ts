import { headKey } from "../../base/blob.ts";
import { PortolanError } from "../../base/diagnostic.ts";
import { clockAheadMs, clockWarnings, writerAheadMs } from "../../snapshot/head/clock.ts";
import type { ReadHead } from "../../snapshot/head/head.ts";
import type { SigningJwk } from "../../snapshot/head/signing-keys.ts";
import { settledWithin } from "../../snapshot/worlds/load-cache.ts";
import type { GetResult, ObjectStore } from "../../storage/object-store.ts";
import { type BelievedGenerations, memoryGenerations } from "./believed-generations.ts";
import { createElapsed, createHeadClock } from "./head-clock.ts";
import { createReadPauses } from "./read-pauses.ts";
import { trustedHead, UntrustedHead } from "./trusted-head.ts";

/** How well HEAD is known. */
export interface HeadHealth {
  /** How long the store has not confirmed HEAD, if the last look did not or it is longer than it should be. */
  readonly headAgeMs?: number;
  readonly warnings: readonly string[];
}

export interface HeadReaderOptions {
  readonly ttlMs: number;
  readonly now: () => number;
  /** Keys of which one must have signed HEAD; absent: any HEAD is taken. */
  readonly trusted?: readonly SigningJwk[] | undefined;
  /** Newest generation that was followed, by this process or one before or beside it; absent: this process's own memory. */
  readonly generations?: BelievedGenerations | undefined;
  /** Called with every failed read of HEAD, and with one that is not followed. */
  readonly onError: (cause: unknown) => void;
  /** From 0 to below 1, by which pauses differ. */
  readonly random?: () => number;
}

/** Keeps HEAD as it was read last, and reads it: one read at a time for all callers. */
export interface HeadReader {
  seen(): ReadHead | undefined;
  /** Time by the clock of HEAD's steps. */
  timeMs(): number;
  /** Whether HEAD is to be read again. */
  isDue(): boolean;
  /** How long until it is to be read, where the store does not report changes by itself. */
  untilDueMs(isReported: boolean): number;
  /** Whether a read is under way. */
  isReading(): boolean;
  /** The store reports that HEAD has changed. */
  changed(): void;
  /** Reads HEAD, and waits as long as waiting is better than what was seen. @throws PortolanError while none was ever seen */
  refresh(): Promise<void>;
  /** Whether the last look at HEAD failed, or found one that is not followed. */
  isDoubted(): boolean;
  /** The error of the last failed read. */
  failure(): unknown;
  health(): Promise<HeadHealth>;
}

/** How often to look all the same where the store reports changes: a watch may be lost without an error. */
const unwatchedMs = 30_000;

/** How long a store may take to answer before HEAD as it was last seen is served. */
const silentMs = 2_000;

/** How long to wait for a read before another one begins: at the edge a read ends unfinished with the request that began it. */
const patienceMs = 3_000;

/** How long to wait for the first HEAD of all, when there is nothing to serve instead. */
const firstMs = 5_000;

/** Longer reasons quote what lies in the store. */
const maxDoubtLength = 300;

/** A read that is under way. */
interface Reading {
  readonly done: Promise<void>;
  readonly sinceMs: () => number;
  /** It was counted as one that takes too long. */
  isLate: boolean;
}

/** @param onRead called after each read that confirms HEAD or brings another one */
export function createHeadReader(store: ObjectStore, options: HeadReaderOptions, onRead: () => void): HeadReader {
  const { trusted, now, generations = memoryGenerations() } = options;
  const clock = createHeadClock(now);
  const pauses = createReadPauses(options.ttlMs, options.random ?? Math.random);
  let seen: ReadHead | undefined;
  /** Since the store last confirmed what is `seen`, and since the last look of any outcome; undefined before the first. */
  let confirmedMs: (() => number) | undefined;
  let lookedMs: (() => number) | undefined;
  /** Since the store reported a change that was not read yet. */
  let changedMs: (() => number) | undefined;
  let reading: Reading | undefined;
  let failure: unknown;
  /** Why the last look did not confirm what is `seen`. Anybody may read it, so it quotes no error of the store. */
  let doubt: string | undefined;
  /** Reads are numbered, since the answer to a slow one may come after that to a later one. */
  let asked = 0;
  let answered = 0;

  async function read(): Promise<void> {
    do {
      asked += 1;
      const number = asked;
      const otherMs = confirmedMs === undefined ? undefined : (changedMs ?? confirmedMs);
      changedMs = undefined;
      const askedMs = createElapsed(now);
      const result = await store.get(headKey, seen === undefined ? {} : { ifNoneMatch: seen.etag });
      if (number < answered) return;
      answered = number;
      if (result.kind === "found") await follow(result, otherMs?.());
      if (result.kind === "absent" && seen !== undefined) throw new UntrustedHead("HEAD is gone from the store");
      confirmedMs = askedMs;
      doubt = undefined;
    } while (changedMs !== undefined);
    onRead();
  }

  async function follow(found: Extract<GetResult, { kind: "found" }>, sinceMs: number | undefined): Promise<void> {
    const aheadMs = await clockAheadMs(store, now);
    const head = await trustedHead(found.bytes, trusted, generations);
    const next = { head, etag: found.etag, modifiedMs: found.modifiedMs };
    clock.follow(next, now() - aheadMs, sinceMs);
    seen = next;
  }

  function failed(cause: unknown, isLate: boolean): void {
    const isUntrusted = cause instanceof UntrustedHead;
    doubt = isUntrusted ? `last refusal: ${cause.message.slice(0, maxDoubtLength)}` : "the store cannot be read";
    failure = cause;
    // A HEAD that is refused was read: the store answers.
    if (seen !== undefined && !isUntrusted && !isLate) pauses.failed();
    options.onError(cause);
    if (seen === undefined) throw cause;
  }

  function startReading(): Reading {
    const done = read()
      .then(() => {
        // A late read was counted as a failure already: the store is slow.
        if (!started.isLate) pauses.succeeded();
      })
      .catch((cause: unknown) => failed(cause, started.isLate))
      .finally(() => {
        lookedMs = createElapsed(now);
        if (reading === started) reading = undefined;
      });
    const started: Reading = { done, sinceMs: createElapsed(now), isLate: false };
    reading = started;
    return started;
  }

  const isDue = () => changedMs !== undefined || lookedMs === undefined || lookedMs() >= pauses.currentMs();

  return {
    seen: () => seen,
    timeMs: () => clock.timeMs(),
    isDue,
    untilDueMs(isReported) {
      const everyMs = isReported ? unwatchedMs : Math.max(pauses.currentMs(), 1);
      // A change that was reported while nothing waited is due at once, but not again while its read is under way.
      if (reading !== undefined) return everyMs;
      return changedMs !== undefined ? 0 : everyMs - (lookedMs?.() ?? everyMs);
    },
    isReading: () => reading !== undefined,
    changed() {
      changedMs ??= createElapsed(now);
    },
    async refresh() {
      const probeMs = pauses.patienceMs();
      const isFirst = reading === undefined || reading.sinceMs() > patienceMs;
      const current = reading === undefined || isFirst ? startReading() : reading;
      const { done, sinceMs } = current;
      if (seen === undefined) {
        if (!(await settledWithin(done, firstMs))) throw new PortolanError("the store does not answer");
        return done;
      }
      done.catch(() => {});
      const waitMs = probeMs === undefined ? Math.max(silentMs - sinceMs(), 0) : isFirst ? probeMs : 0;
      if (await settledWithin(done, waitMs)) return;
      // Until the pause is over, or the late answer arrives, requests are answered from memory.
      if (current.isLate) return;
      current.isLate = true;
      pauses.failed();
      lookedMs = createElapsed(now);
    },
    isDoubted: () => doubt !== undefined,
    failure: () => failure,
    async health() {
      const ageMs = confirmedMs?.() ?? 0;
      const aheadMs = await clockAheadMs(store, now);
      const writerMs = seen === undefined ? 0 : writerAheadMs(seen);
      // A failed look was a look: that one is not due again says nothing of HEAD.
      const isOld = doubt !== undefined || (ageMs > options.ttlMs + silentMs && (isDue() || reading?.isLate === true));
      const why = doubt === undefined ? "" : `; ${doubt}`;
      return {
        ...(isOld ? { headAgeMs: Math.round(ageMs) } : {}),
        warnings: [
          ...(isOld ? [`HEAD was not confirmed for ${Math.round(ageMs / 1_000)} s${why}`] : []),
          ...clockWarnings(aheadMs, writerMs),
        ],
      };
    },
  };
}
