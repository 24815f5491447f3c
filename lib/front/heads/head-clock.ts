import { headTimeMs } from "../../snapshot/head/clock.ts";
import type { ReadHead } from "../../snapshot/head/head.ts";

/** The clock that HEAD's steps go by, as one front follows it: it never goes back while HEAD stays. */
export interface HeadClock {
  /**
   * Starts anew with a HEAD that was just read.
   *
   * @param nowMs what the store's clock shows, as well as it is known
   * @param sinceMs how long ago HEAD was still another one; undefined when that was not seen
   */
  follow(read: Pick<ReadHead, "head" | "modifiedMs">, nowMs: number, sinceMs: number | undefined): void;
  /** What HEAD's clock shows. */
  timeMs(): number;
}

/**
 * Measures from when HEAD was seen to come: what a clock shows then can be wrong by an hour, but HEAD was written no longer ago than
 * it was seen to be another one. So a front gives every step its time, and a clock that is ahead skips none.
 *
 * @param now this process's clock, milliseconds since the epoch
 */
export function createHeadClock(now: () => number): HeadClock {
  let startMs: number | undefined;
  let elapsedMs = createElapsed(now);
  let reachedMs = Number.NEGATIVE_INFINITY;
  return {
    follow(read, nowMs, sinceMs) {
      const shownMs = headTimeMs(read, nowMs);
      const writtenMs = read.head.at === undefined ? undefined : Date.parse(read.head.at);
      const latestMs =
        writtenMs === undefined || sinceMs === undefined ? Number.POSITIVE_INFINITY : writtenMs + sinceMs;
      startMs = Math.max(writtenMs ?? Number.NEGATIVE_INFINITY, Math.min(shownMs, latestMs));
      elapsedMs = createElapsed(now);
      reachedMs = Number.NEGATIVE_INFINITY;
    },
    timeMs() {
      reachedMs = Math.max(reachedMs, startMs === undefined ? now() : startMs + elapsedMs());
      return reachedMs;
    },
  };
}

/**
 * How much time has gone by. The clock that never jumps stands still while a function is frozen, the other one may be set: the
 * one that has gone farther counts.
 */
export function createElapsed(now: () => number): () => number {
  const startMs = now();
  const startMonotonicMs = performance.now();
  return () => Math.max(performance.now() - startMonotonicMs, now() - startMs);
}
