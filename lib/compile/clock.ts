/**
 * Time as one process sees it pass. It only ever measures intervals: no two processes are compared by it, and nobody who sets the time of day
 * changes it.
 */
export interface Clock {
  /** Milliseconds since some moment. */
  readonly now: () => number;
  /** Resolves after so many milliseconds. */
  readonly pause: (ms: number) => Promise<void>;
  /** Calls back after so many milliseconds. @returns prevents it */
  readonly after: (ms: number, act: () => void) => () => void;
  /** Calls back every so many milliseconds. @returns ends it */
  readonly every: (ms: number, act: () => void) => () => void;
}

/** The clock of the machine that nobody sets. */
export const monotonicClock: Clock = {
  now: () => performance.now(),
  pause: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
  after(ms, act) {
    const timer = setTimeout(act, ms);
    return () => clearTimeout(timer);
  },
  every(ms, act) {
    const timer = setInterval(act, ms);
    return () => clearInterval(timer);
  },
};
