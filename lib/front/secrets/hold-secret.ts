import { type HoldServices, stillHolding, type Waiting } from "../polls/hold.ts";
import { secretTtlMs } from "./secrets.ts";

/** Timers may be early by so much. */
const slackMs = 20;

/**
 * Waits for something new of secrets: HEAD says nothing of them, so the store is asked again meanwhile.
 *
 * @returns false when the answer at hand is the last word
 */
export async function stillHoldingSecret(front: HoldServices, state: string, waiting: Waiting): Promise<boolean> {
  const { untilMs } = waiting;
  const sliceEndMs = Math.min(untilMs, performance.now() + secretTtlMs);
  if (await stillHolding(front, state, { ...waiting, untilMs: sliceEndMs })) return true;
  return performance.now() >= sliceEndMs - slackMs && sliceEndMs < untilMs;
}
