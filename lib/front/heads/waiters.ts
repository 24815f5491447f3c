import type { WaiterGroup } from "./waiter-groups.ts";

/** Requests that wait for HEAD to serve something else. */
export interface Waiters {
  /** @returns false when the time was up, the signal fired or the front closed before that */
  wait(state: string, timeoutMs: number, signal?: AbortSignal, waiterGroup?: WaiterGroup): Promise<boolean>;
  isEmpty(): boolean;
  /** Wakes those for which something else is served now. */
  wakeConcerned(): void;
  isClosed(): boolean;
  /** Lets all go; later requests do not wait. */
  close(): void;
}

export interface WaitersOptions {
  /** What HEAD serves now, as `stateOf` names it. */
  readonly stateNow: () => string;
  /** Reads HEAD if it is due. Never rejects. */
  readonly look: () => Promise<void>;
  /** How long a waiter may sleep before it looks. */
  readonly sleepMs: () => number;
  /** Whether the store reports changes of HEAD by itself, so that waiters need not look each for itself. */
  readonly isReported: () => boolean;
}

interface Waiter {
  /** What was served when it began to wait, or when the last change was none for it. */
  state: string;
  readonly wake: () => void;
}

/** More than so many are not woken at once; their own timers are spread over as many milliseconds as there are turns. */
const wokenTogether = 200;
const spreadTurns = 32;

export function createWaiters({ stateNow, look, sleepMs, isReported }: WaitersOptions): Waiters {
  const waiters = new Set<Waiter>();
  let closed = false;
  /** So that the timers of many waiters do not fire in the same moment. */
  let turn = 0;

  return {
    wait(state, timeoutMs, signal, waiterGroup) {
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
          // At the edge what several requests wait for ends with the one that began it: there each decides for itself.
          if (waiterGroup === undefined || !isReported()) return finish(true);
          waiterGroup.isNews(now).then((isNews) => {
            if (isNews) finish(true);
            else waiter.state = now;
          }, giveUp);
        };
        const waiter: Waiter = { state, wake };
        // Each has a timer of its own: at the edge a timer ends with the request that set it, and others would wait for ever.
        const sleep = () => {
          const leftMs = endMs - performance.now();
          timer = setTimeout(lookAgain, Math.max(Math.min(leftMs, sleepMs() + laterMs), 1));
        };
        const lookAgain = async () => {
          if (performance.now() >= endMs) return giveUp();
          await look();
          wake();
          if (waiters.has(waiter)) sleep();
        };
        signal?.addEventListener("abort", giveUp);
        waiters.add(waiter);
        wake();
        if (waiters.has(waiter)) sleep();
      });
    },
    isEmpty: () => waiters.size === 0,
    wakeConcerned() {
      const state = stateNow();
      wakeFrom(
        [...waiters].filter((waiter) => waiter.state !== state),
        0,
      );
    },
    isClosed: () => closed,
    close() {
      closed = true;
      for (const { wake } of waiters) wake();
    },
  };
}

/** Some at a time: other requests are answered in between. */
function wakeFrom(waiters: readonly Waiter[], from: number): void {
  const next = from + wokenTogether;
  for (const { wake } of waiters.slice(from, next)) wake();
  if (next < waiters.length) setTimeout(() => wakeFrom(waiters, next), 1);
}
