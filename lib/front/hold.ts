import type { Front } from "./front.ts";

/** Time left for the answer to travel when a poll is held. */
const marginMs = 5_000;

/** A request that waits for something new. */
export interface Waiting {
  /** On the clock of `performance.now`. */
  readonly untilMs: number;
  /** What it takes to remember the request meanwhile. */
  readonly bytes: number;
  readonly signal: AbortSignal | undefined;
}

/** Until when a poll may be held, on the clock of `performance.now`, for a node that will wait so long. */
export function holdUntilMs(front: Front, patienceMs: number): number {
  return performance.now() + Math.min(front.maxHoldMs, front.limits.stallMs - marginMs, patienceMs - marginMs);
}

/**
 * Waits for HEAD to serve something else.
 *
 * @returns false when there is no time left to wait, or too much waits already: the answer at hand is the last word
 */
export async function stillHolding(front: Front, state: string, { untilMs, bytes, signal }: Waiting): Promise<boolean> {
  const leftMs = untilMs - performance.now();
  if (leftMs <= 0 || !front.held.take(bytes)) return false;
  front.metrics.held(1);
  try {
    return await front.heads.waitForChange(state, leftMs, signal);
  } finally {
    front.held.give(bytes);
    front.metrics.held(-1);
  }
}
