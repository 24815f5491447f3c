import { headKey } from "../snapshot/blob.ts";
import { cohortsOf, nextStepMs, parseHead, rootAt } from "../snapshot/head.ts";
import { settledWithin } from "../snapshot/load-cache.ts";
import type { Head } from "../snapshot/root.ts";
import type { ObjectStore } from "../storage/object-store.ts";

/** HEAD as this front sees it. */
export interface Heads {
  /**
   * HEAD, at most `ttlMs` old, or as it was last seen while the store is down.
   * @returns undefined when nothing was ever published
   * @throws PortolanError when the store is down and was never reached
   */
  current(): Promise<Head | undefined>;
  /**
   * Waits until HEAD serves something else than it did in `state`.
   * @returns false when the time was up, the signal fired or the front closed before that
   */
  waitForChange(state: string, timeoutMs: number, signal?: AbortSignal): Promise<boolean>;
  /** Ends watching and lets all who wait go. */
  close(): void;
}

export interface HeadsOptions {
  readonly ttlMs: number;
  readonly now: () => number;
  /** Told of every failed read of HEAD. */
  readonly onError: (cause: unknown) => void;
}

/** What HEAD makes the front serve at a time: equal texts, equal answers for every node. */
export function stateOf(head: Head, nowMs: number): string {
  const ways = [head, ...cohortsOf(head)].map((way) => rootAt(way, nowMs));
  return ways.join() + JSON.stringify(head.cohorts?.map(({ shares }) => shares) ?? head.canary ?? "");
}

/** How often to look all the same where the store calls back: a watch may be lost without a word. */
const unwatchedMs = 30_000;

/** How long to wait for a read that somebody else began. */
const patienceMs = 3_000;

/** Caches HEAD: one read at a time, whoever asks; pushed by the store where it can watch, else asked again while polls are held. */
export function createHeads(store: ObjectStore, options: HeadsOptions): Heads {
  const waiters = new Set<() => void>();
  let seen: { readonly head: Head; readonly etag: string } | undefined;
  let readAtMs = Number.NEGATIVE_INFINITY;
  let reading: Promise<void> | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let changedMeanwhile = false;
  let closed = false;

  async function read(): Promise<void> {
    do {
      changedMeanwhile = false;
      const result = await store.get(headKey, seen === undefined ? {} : { ifNoneMatch: seen.etag });
      if (result.kind === "found") seen = { head: parseHead(result.bytes), etag: result.etag };
      if (result.kind === "absent") seen = undefined;
      readAtMs = options.now();
    } while (changedMeanwhile);
    for (const wake of waiters) wake();
  }

  function startReading(): Promise<void> {
    const started = read()
      .catch((cause: unknown) => {
        options.onError(cause);
        if (seen === undefined) throw cause;
        readAtMs = options.now();
      })
      .finally(() => {
        if (reading === started) reading = undefined;
      });
    reading = started;
    return started;
  }

  async function refresh(): Promise<void> {
    // At the edge a read ends unfinished with the request that began it; then another request reads for itself.
    if (reading !== undefined && (await settledWithin(reading, patienceMs))) return reading;
    return startReading();
  }

  const stopWatching = store.watch?.(headKey, () => {
    changedMeanwhile = true;
    if (waiters.size > 0) refresh().catch(() => {});
    else readAtMs = Number.NEGATIVE_INFINITY;
  });

  /** While polls are held: wakes at the next planned step, and looks at the store where it does not call by itself. */
  function schedule(): void {
    if (timer !== undefined || waiters.size === 0 || closed) return;
    const nowMs = options.now();
    const stepMs = seen === undefined ? undefined : nextStepMs(seen.head, nowMs);
    // A change seen while nobody waited has set the time of reading back: then it is due at once.
    const lookMs = readAtMs + (stopWatching === undefined ? options.ttlMs : unwatchedMs);
    const dueMs = Math.min(stepMs ?? lookMs, lookMs);
    timer = setTimeout(
      async () => {
        timer = undefined;
        await refresh().catch(() => {});
        schedule();
      },
      Math.max(dueMs - nowMs, 1),
    );
  }

  const stateNow = () => (seen === undefined ? "" : stateOf(seen.head, options.now()));

  return {
    async current() {
      if (options.now() - readAtMs >= options.ttlMs) await refresh();
      return seen?.head;
    },
    waitForChange(state, timeoutMs, signal) {
      return new Promise((resolve) => {
        const finish = (changed: boolean) => {
          waiters.delete(wake);
          clearTimeout(deadline);
          signal?.removeEventListener("abort", giveUp);
          if (waiters.size === 0) {
            clearTimeout(timer);
            timer = undefined;
          }
          resolve(changed);
        };
        const giveUp = () => finish(false);
        const wake = () => {
          if (closed || signal?.aborted) giveUp();
          else if (stateNow() !== state) finish(true);
        };
        const deadline = setTimeout(giveUp, timeoutMs);
        signal?.addEventListener("abort", giveUp);
        waiters.add(wake);
        schedule();
        wake();
      });
    },
    close() {
      closed = true;
      stopWatching?.();
      clearTimeout(timer);
      for (const wake of waiters) wake();
    },
  };
}
