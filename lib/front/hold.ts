import type { Front } from "./front.ts";

/** Time left for the answer to travel when a poll is held. */
const marginMs = 5_000;

/** Until when a poll may be held, on the clock of `performance.now`, for a node that will wait so long. */
export function holdUntilMs(front: Front, patienceMs: number): number {
  return performance.now() + Math.min(front.maxHoldMs, patienceMs - marginMs);
}

/** Waits for HEAD to serve something else. @returns false when there is no time left to wait, so that the answer at hand is the last word */
export async function stillHolding(
  front: Front,
  state: string,
  untilMs: number,
  signal?: AbortSignal,
): Promise<boolean> {
  const leftMs = untilMs - performance.now();
  if (leftMs <= 0) return false;
  front.metrics.held(1);
  const changed = await front.heads.waitForChange(state, leftMs, signal);
  front.metrics.held(-1);
  return changed;
}
