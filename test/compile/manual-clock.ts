import type { Clock } from "../../lib/compile/clock.ts";

interface Timer {
  readonly atMs: number;
  readonly act: () => void;
}

/** A clock that stands still until a test moves it on. */
export interface ManualClock extends Clock {
  /**
   * Moves from one timer to the next until something is so. All that follows from a timer without waiting for another is over before the
   * next is reached, however slow or busy the machine is.
   *
   * @throws Error where it is not so after very many timers, or none is left that could bring it about
   */
  readonly until: (isSo: () => boolean) => Promise<void>;
  /** The same until a promise is settled. @returns as the promise does */
  readonly settled: <T>(promise: Promise<T>) => Promise<T>;
  /** Moves on by so many milliseconds. */
  readonly passes: (ms: number) => Promise<void>;
}

const maxTimers = 100_000;

/** Everything that waits for nothing but this process. */
const quiet = async (): Promise<void> => {
  for (let round = 0; round < 3; round += 1) await new Promise((resolve) => setImmediate(resolve));
};

export function manualClock(startMs = 0): ManualClock {
  let nowMs = startMs;
  const timers = new Set<Timer>();
  const after = (ms: number, act: () => void) => {
    const timer = { atMs: nowMs + ms, act };
    timers.add(timer);
    return () => void timers.delete(timer);
  };
  const nextTimer = (): Timer | undefined => {
    let next: Timer | undefined;
    for (const timer of timers) if (next === undefined || timer.atMs < next.atMs) next = timer;
    return next;
  };
  const fire = (timer: Timer) => {
    timers.delete(timer);
    nowMs = Math.max(nowMs, timer.atMs);
    timer.act();
  };
  const until: ManualClock["until"] = async (isSo) => {
    for (let left = maxTimers; left > 0; left -= 1) {
      await quiet();
      if (isSo()) return;
      const timer = nextTimer();
      if (timer !== undefined) fire(timer);
    }
    throw new Error("it did not come about");
  };
  return {
    now: () => nowMs,
    pause: (ms) => new Promise((resolve) => void after(ms, resolve)),
    after,
    every(ms, act) {
      let end = () => {};
      const again = () => {
        end = after(ms, again);
        act();
      };
      end = after(ms, again);
      return () => end();
    },
    until,
    async settled(promise) {
      let isSettled = false;
      const done = () => {
        isSettled = true;
      };
      promise.then(done, done);
      await until(() => isSettled);
      return promise;
    },
    async passes(ms) {
      const endMs = nowMs + ms;
      for (;;) {
        await quiet();
        const timer = nextTimer();
        if (timer === undefined || timer.atMs > endMs) break;
        fire(timer);
      }
      nowMs = endMs;
      await quiet();
    },
  };
}
