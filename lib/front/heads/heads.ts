import { causeText } from "../../config/cause-text.ts";
import { PortolanError } from "../../config/diagnostic.ts";
import { headKey } from "../../snapshot/blob.ts";
import { clockAheadMs, clockWarnings, writerAheadMs } from "../../snapshot/head/clock.ts";
import {
  cohortsOf,
  nextStepMs,
  parseHead,
  type ReadHead,
  rootAt,
  stepsFrom,
  type Way,
} from "../../snapshot/head/head.ts";
import { needSigned } from "../../snapshot/head/signatures.ts";
import type { SigningJwk } from "../../snapshot/head/signing-keys.ts";
import type { Head } from "../../snapshot/root.ts";
import { settledWithin } from "../../snapshot/worlds/load-cache.ts";
import type { ObjectStore } from "../../storage/object-store.ts";
import type { Alike } from "./alike.ts";
import { type BelievedGenerations, memoryGenerations } from "./believed-generations.ts";
import { createElapsed, createHeadClock } from "./head-clock.ts";
import { createReadPauses } from "./read-pauses.ts";

/** HEAD as this front sees it. */
export interface Heads {
  /**
   * HEAD, at most `ttlMs` old, or as it was last seen while the store is down, silent or throttles: then it is read again after pauses that
   * grow to 30 s, and only the call that begins such a read waits for it, 2 s at most.
   * @returns undefined when nothing was ever published
   * @throws PortolanError when the store is down and was never reached
   */
  current(): Promise<Head | undefined>;
  /** HEAD, if it was read no longer than `ttlMs` ago, or a pause after a failed read lasts. */
  fresh(): Head | undefined;
  /** What the clock of HEAD's steps shows: the time that decides which is in force. */
  timeMs(): number;
  health(): Promise<HeadHealth>;
  /** Whether the last look at HEAD failed, or found one that is not believed. */
  isDoubted(): boolean;
  /**
   * Waits until HEAD serves something else than it did in `state`.
   * @param alike tells, where the store calls back, whether that is news; absent: it always is
   * @returns false when the time was up, the signal fired or the front closed before that
   */
  waitForChange(state: string, timeoutMs: number, signal?: AbortSignal, alike?: Alike): Promise<boolean>;
  /** Whether `close` was called: nobody is to wait any more. */
  isClosed(): boolean;
  /** Ends watching and lets all who wait go; whoever comes after does not wait. */
  close(): void;
}

/** How well HEAD is known. */
export interface HeadHealth {
  /** How long the store has not confirmed HEAD, if the last look did not or it is longer than it should be. */
  readonly headAgeMs?: number;
  readonly warnings: readonly string[];
}

export interface HeadsOptions {
  readonly ttlMs: number;
  readonly now: () => number;
  /** Keys of which one must have signed HEAD; absent: any HEAD is taken. */
  readonly trusted?: readonly SigningJwk[] | undefined;
  /** Newest generation that was believed, here or in a process before or beside this one; absent: this process's own memory. */
  readonly generations?: BelievedGenerations | undefined;
  /** Told of every failed read of HEAD, and of one that is not believed. */
  readonly onError: (cause: unknown) => void;
  /** From 0 to below 1, by which pauses differ. */
  readonly random?: () => number;
}

/** What HEAD makes the front serve at a time: equal texts, equal answers for every node. */
export function stateOf(head: Head, nowMs: number): string {
  const ways = [head, ...cohortsOf(head)].map((way) => [rootAt(way, nowMs), ...gatedRoots(way, nowMs)]);
  return ways.join(";") + JSON.stringify(head.cohorts?.map(({ shares }) => shares) ?? head.canary ?? "");
}

/** Roots that some nodes are served before their time. */
const gatedRoots = (way: Way, nowMs: number): readonly string[] =>
  stepsFrom(way.steps, nowMs).flatMap(({ root, gate }, i) => (i > 0 && gate !== undefined ? [`${root} ${gate}`] : []));

/** `stateOf`, worked out once from each step to the next. */
export function createStates(): typeof stateOf {
  let last:
    | { readonly head: Head; readonly fromMs: number; readonly untilMs: number; readonly state: string }
    | undefined;
  return (head, nowMs) => {
    if (last?.head !== head || nowMs < last.fromMs || nowMs >= last.untilMs) {
      const untilMs = nextStepMs(head, nowMs) ?? Number.POSITIVE_INFINITY;
      last = { head, fromMs: nowMs, untilMs, state: stateOf(head, nowMs) };
    }
    return last.state;
  };
}

/** How often to look all the same where the store calls back: a watch may be lost without a word. */
const unwatchedMs = 30_000;

/** More than so many are not woken at once; their own timers are spread over as many milliseconds as there are turns. */
const wokenTogether = 200;
const spreadTurns = 32;

/** How long a store may take to answer before HEAD as it was last seen is served. */
const silentMs = 2_000;

/** How long to wait for a read before another one is begun: at the edge one ends unfinished with the request that began it. */
const patienceMs = 3_000;

/** How long to wait for the first HEAD of all, when there is nothing to serve instead. */
const firstMs = 5_000;

/** What lies in the store for HEAD is not followed; the message says why. */
class UnbelievedHead extends PortolanError {}

/** Who waits for a change. */
interface Waiter {
  /** What was served when it began to wait, or when the last change was none for it. */
  state: string;
  readonly wake: () => void;
}

/** What is known of a read that is under way. */
interface Reading {
  readonly done: Promise<void>;
  readonly sinceMs: () => number;
  /** It was counted as one that takes too long. */
  isLate: boolean;
}

/** Longer reasons quote what lies in the store. */
const maxDoubtLength = 300;

const doubtOf = (cause: unknown): string =>
  cause instanceof UnbelievedHead
    ? `last refusal: ${cause.message.slice(0, maxDoubtLength)}`
    : "the store cannot be read";

/** Caches HEAD: one read at a time, whoever asks; pushed by the store where it can watch, else asked again while polls are held. */
export function createHeads(store: ObjectStore, options: HeadsOptions): Heads {
  const { trusted, generations = memoryGenerations() } = options;
  const waiters = new Set<Waiter>();
  const clock = createHeadClock(options.now);
  let seen: ReadHead | undefined;
  /** Since the store last confirmed what is `seen`, and since the last look of any outcome; undefined before the first. */
  let confirmedMs: (() => number) | undefined;
  let lookedMs: (() => number) | undefined;
  /** Since the store called back for what was not read yet. */
  let calledMs: (() => number) | undefined;
  let reading: Reading | undefined;
  const pauses = createReadPauses(options.ttlMs, options.random ?? Math.random);
  /** What came of the first looks of all, as long as none was a success. */
  let failure: unknown;
  /** Why the last look did not confirm what is `seen`. Anybody may read it: of a store's own errors it says nothing. */
  let doubt: string | undefined;
  let closed = false;

  /** Reads are numbered, since the answer to a slow one may come after that to a later one. */
  let asked = 0;
  let answered = 0;
  /** Of those who wait, so that their timers do not fall on one moment. */
  let turn = 0;

  /** With keys that are trusted, HEAD is never older than the one before; a rollback is a newer one. */
  function refuseOlder({ generation }: Head): void {
    const newest = generations.newest();
    if (trusted === undefined || generation >= newest) return;
    throw new PortolanError(
      `HEAD went back from generation ${newest} to ${generation}: an older HEAD was put back, which is not followed. ` +
        `If that was you, ${generations.remedy}`,
    );
  }

  async function read(): Promise<void> {
    do {
      asked += 1;
      const number = asked;
      const otherMs = confirmedMs === undefined ? undefined : (calledMs ?? confirmedMs);
      calledMs = undefined;
      const askedMs = createElapsed(options.now);
      const result = await store.get(headKey, seen === undefined ? {} : { ifNoneMatch: seen.etag });
      if (number < answered) return;
      answered = number;
      if (result.kind === "found") await follow(result, otherMs?.());
      if (result.kind === "absent" && seen !== undefined) throw new UnbelievedHead("HEAD is gone from the store");
      confirmedMs = askedMs;
      doubt = undefined;
    } while (calledMs !== undefined);
    wakeConcerned();
  }

  /** @throws UnbelievedHead for what is no HEAD, is signed by nobody who is trusted, or is older than what was seen */
  async function believed(bytes: Uint8Array): Promise<Head> {
    try {
      const head = await needSigned(trusted, parseHead(bytes));
      refuseOlder(head);
      if (trusted !== undefined) generations.believed(head.generation);
      return head;
    } catch (cause) {
      throw new UnbelievedHead(causeText(cause), [], cause);
    }
  }

  async function follow(
    { bytes, etag, modifiedMs }: { bytes: Uint8Array; etag: string; modifiedMs?: number },
    sinceMs: number | undefined,
  ): Promise<void> {
    const aheadMs = await clockAheadMs(store, options.now);
    const next = { head: await believed(bytes), etag, modifiedMs };
    clock.follow(next, options.now() - aheadMs, sinceMs);
    seen = next;
  }

  function startReading(): Reading {
    const done = read()
      .then(() => {
        // A late read was counted as a failure already: the store is slow.
        if (!started.isLate) pauses.succeeded();
      })
      .catch((cause: unknown) => {
        doubt = doubtOf(cause);
        failure = cause;
        // A HEAD that is refused was read: the store answers.
        if (seen !== undefined && !(cause instanceof UnbelievedHead) && !started.isLate) pauses.failed();
        options.onError(cause);
        if (seen === undefined) throw cause;
      })
      .finally(() => {
        lookedMs = createElapsed(options.now);
        if (reading === started) reading = undefined;
      });
    const started: Reading = { done, sinceMs: createElapsed(options.now), isLate: false };
    reading = started;
    return started;
  }

  /** Reads HEAD, and waits for it as long as that is better than what is there. */
  async function refresh(): Promise<void> {
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
    // Until the pause is over, or the late answer arrives, calls are answered from memory.
    if (!current.isLate) {
      current.isLate = true;
      pauses.failed();
      lookedMs = createElapsed(options.now);
    }
  }

  const stopWatching = store.watch?.(headKey, () => {
    calledMs ??= createElapsed(options.now);
    if (waiters.size > 0 && reading === undefined) refresh().catch(() => {});
  });

  const isDue = () => calledMs !== undefined || lookedMs === undefined || lookedMs() >= pauses.currentMs();

  /** How long whoever waits may sleep: until the next planned step, and where the store does not call by itself until the next look at it. */
  function sleepMs(): number {
    const stepMs = seen === undefined ? undefined : nextStepMs(seen.head, clock.timeMs());
    const everyMs = stopWatching === undefined ? Math.max(pauses.currentMs(), 1) : unwatchedMs;
    // A change seen while nobody waited is due at once, but not again and again while its read is under way.
    const lookMs = reading !== undefined ? everyMs : calledMs !== undefined ? 0 : everyMs - (lookedMs?.() ?? everyMs);
    return Math.min(stepMs === undefined ? lookMs : stepMs - clock.timeMs(), lookMs);
  }

  /** Wakes those for whom something else is served now, some at a time: what others ask is answered in between. */
  function wakeConcerned(): void {
    const state = stateNow();
    const concerned = [...waiters].filter((waiter) => waiter.state !== state);
    const wakeFrom = (from: number) => {
      for (const { wake } of concerned.slice(from, from + wokenTogether)) wake();
      const next = from + wokenTogether;
      if (next < concerned.length) setTimeout(() => wakeFrom(next), 1);
    };
    wakeFrom(0);
  }

  const stateAt = createStates();
  const stateNow = () => (seen === undefined ? "" : stateAt(seen.head, clock.timeMs()));

  return {
    async current() {
      if (isDue()) await refresh();
      // A failed read does not mean that nothing was published.
      else if (seen === undefined && doubt !== undefined) throw failure;
      return seen?.head;
    },
    fresh: () => (isDue() ? undefined : seen?.head),
    timeMs: () => clock.timeMs(),
    async health() {
      const ageMs = confirmedMs?.() ?? 0;
      const aheadMs = await clockAheadMs(store, options.now);
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
    isDoubted: () => doubt !== undefined,
    waitForChange(state, timeoutMs, signal, alike) {
      const endMs = performance.now() + timeoutMs;
      turn = (turn + 1) % spreadTurns;
      const laterMs = waiters.size < wokenTogether ? 0 : turn;
      return new Promise((resolve) => {
        let timer: ReturnType<typeof setTimeout> | undefined;
        const finish = (changed: boolean) => {
          waiters.delete(waiter);
          clearTimeout(timer);
          signal?.removeEventListener("abort", giveUp);
          resolve(changed);
        };
        const giveUp = () => finish(false);
        const wake = () => {
          if (closed || signal?.aborted) return giveUp();
          const now = stateNow();
          if (now === waiter.state) return;
          // At the edge, where no store calls, what several wait for ends with the request that began it: there each looks for itself.
          if (alike === undefined || stopWatching === undefined) return finish(true);
          alike.isNews(now).then((isNews) => {
            if (isNews) finish(true);
            else waiter.state = now;
          }, giveUp);
        };
        const waiter: Waiter = { state, wake };
        // Each has a timer of its own: at the edge one ends with the request that it was set by, and others would wait for ever.
        const sleep = () => {
          const leftMs = endMs - performance.now();
          timer = setTimeout(look, Math.max(Math.min(leftMs, sleepMs() + laterMs), 1));
        };
        const look = async () => {
          if (performance.now() >= endMs) return giveUp();
          if (isDue()) await refresh().catch(() => {});
          wake();
          if (waiters.has(waiter)) sleep();
        };
        signal?.addEventListener("abort", giveUp);
        waiters.add(waiter);
        wake();
        if (waiters.has(waiter)) sleep();
      });
    },
    isClosed: () => closed,
    close() {
      closed = true;
      stopWatching?.();
      for (const { wake } of waiters) wake();
    },
  };
}
