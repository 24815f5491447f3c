/** When an Envoy that ended may be started again. */
export interface Restarts {
  /** To be told of each end. @returns how long to wait, and how often in a row it ended soon */
  ended(livedMs: number): { readonly pauseMs: number; readonly inARow: number };
}

const firstPauseMs = 250;
const lastPauseMs = 30_000;

/** An Envoy that has lived so long does not end because of how it was started. */
const soundMs = 60_000;

/** Pauses double with each end in a row, and begin anew after an Envoy that has lived for a minute. */
export function createRestarts(): Restarts {
  let inARow = 0;
  return {
    ended(livedMs) {
      inARow = livedMs >= soundMs ? 1 : inARow + 1;
      return { pauseMs: Math.min(firstPauseMs * 2 ** (inARow - 1), lastPauseMs), inARow };
    },
  };
}
