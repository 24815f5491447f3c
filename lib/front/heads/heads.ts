import { headKey } from "../../base/blob.ts";
import { nextStageMs } from "../../snapshot/head/head.ts";
import type { Head } from "../../snapshot/root.ts";
import type { ObjectStore } from "../../storage/object-store.ts";
import { createHeadReader, type HeadHealth, type HeadReaderOptions } from "./head-reader.ts";
import { createStates } from "./head-state.ts";
import type { WaiterGroup } from "./waiter-groups.ts";
import { createWaiters } from "./waiters.ts";

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
  /** Whether the last look at HEAD failed, or found one that is not followed. */
  isDoubted(): boolean;
  /**
   * Waits until HEAD serves something else than it did in `state`.
   * @param alike decides, where the store reports changes, whether one is news; absent: it always is
   * @returns false when the time was up, the signal fired or the front closed before that
   */
  waitForChange(state: string, timeoutMs: number, signal?: AbortSignal, waiterGroup?: WaiterGroup): Promise<boolean>;
  /** Whether `close` was called: no request is to wait any more. */
  isClosed(): boolean;
  /** Ends watching and lets all waiting requests go; later ones do not wait. */
  close(): void;
}

/** Caches HEAD: one read at a time for all callers; pushed by the store where it can watch, else read again while polls are held. */
export function createHeads(store: ObjectStore, options: HeadReaderOptions): Heads {
  const reader = createHeadReader(store, options, () => waiters.wakeConcerned());
  const stateAt = createStates();
  const waiters = createWaiters({
    stateNow() {
      const seen = reader.seen();
      return seen === undefined ? "" : stateAt(seen.head, reader.timeMs());
    },
    async look() {
      if (reader.isDue()) await reader.refresh().catch(() => {});
    },
    sleepMs() {
      const seen = reader.seen();
      const lookMs = reader.untilDueMs(stopWatching !== undefined);
      const stepMs = seen === undefined ? undefined : nextStageMs(seen.head, reader.timeMs());
      return stepMs === undefined ? lookMs : Math.min(stepMs - reader.timeMs(), lookMs);
    },
    isReported: () => stopWatching !== undefined,
  });
  const stopWatching = store.watch?.(headKey, () => {
    reader.changed();
    if (!waiters.isEmpty() && !reader.isReading()) reader.refresh().catch(() => {});
  });

  return {
    async current() {
      if (reader.isDue()) await reader.refresh();
      // A failed read does not mean that nothing was published.
      else if (reader.seen() === undefined && reader.isDoubted()) throw reader.failure();
      return reader.seen()?.head;
    },
    fresh: () => (reader.isDue() ? undefined : reader.seen()?.head),
    timeMs: reader.timeMs,
    health: reader.health,
    isDoubted: reader.isDoubted,
    waitForChange: waiters.wait,
    isClosed: waiters.isClosed,
    close() {
      stopWatching?.();
      waiters.close();
    },
  };
}
