import type { Front } from "../front.ts";
import type { AckSource } from "../heads/cds-acks.ts";
import type { WaiterGroup } from "../heads/waiter-groups.ts";
import type { NodeSubscription } from "../nodes/node-watch.ts";

/** Time left for the answer to travel when a poll is held. */
const marginMs = 5_000;

/** About what a request and its connection take while they wait, besides what is remembered of it. */
const openBytes = 4 * 1024;

/** What holding a poll takes: where changes are heard of, and what may be held. */
export type HoldServices = Pick<Front, "heads" | "held" | "metrics" | "nodes" | "cdsAcks">;

/** What bounds how long a poll is held. */
export type HoldBounds = Pick<Front, "limits" | "maxHoldMs">;

/** A request that waits for something new. */
export interface Waiting {
  /** On the clock of `performance.now`. */
  readonly untilMs: number;
  /** What it takes to remember the request meanwhile. */
  readonly bytes: number;
  /** Who waits, and for what; absent where that is not kept. */
  readonly who?: NodeSubscription | undefined;
  /** Asked for once it is to wait. */
  readonly signal: () => AbortSignal | undefined;
  /** Whose confirmation ends the wait too: a step to come may be for it then. `count` is what it was before the answer was made. */
  readonly acked?: { readonly by: AckSource; readonly count: number } | undefined;
  /** Who waits for the same; absent: every change is looked at. */
  readonly waiterGroup?: WaiterGroup | undefined;
}

/** How long a poll may be held for a node that will wait so long; 0 and less: not at all. */
export const holdMs = (front: HoldBounds, patienceMs: number): number =>
  Math.min(front.maxHoldMs, front.limits.stallMs - marginMs, patienceMs - marginMs);

/** Until when, on the clock of `performance.now`. */
export const holdUntilMs = (front: HoldBounds, patienceMs: number): number =>
  performance.now() + holdMs(front, patienceMs);

/**
 * Waits for HEAD to serve something else, or to serve it to this node.
 *
 * @returns false when there is no time left to wait, or too much waits already: the answer at hand is the last word
 */
export async function stillHolding(front: HoldServices, state: string, waiting: Waiting): Promise<boolean> {
  const { untilMs, bytes, who, signal, acked, waiterGroup } = waiting;
  const leftMs = untilMs - performance.now();
  if (leftMs <= 0 || !front.held.take(openBytes + bytes)) return false;
  front.metrics.held(1);
  const leave = who && front.nodes.holds?.(who);
  const gone = signal();
  const news = acked && new AbortController();
  const unwatch = acked && front.cdsAcks.watch(acked.by, () => news?.abort());
  const ended = news === undefined ? gone : AbortSignal.any([news.signal, ...(gone ? [gone] : [])]);
  try {
    if (acked !== undefined && front.cdsAcks.count(acked.by) !== acked.count) return true;
    const { lookMs = leftMs } = acked === undefined ? {} : front.cdsAcks;
    const isChanged = await front.heads.waitForChange(state, Math.min(leftMs, lookMs), ended, waiterGroup);
    if (!isChanged && lookMs < leftMs && gone?.aborted !== true && !front.heads.isClosed()) return true;
    return isChanged || (news?.signal.aborted === true && gone?.aborted !== true);
  } finally {
    unwatch?.();
    leave?.();
    front.held.give(openBytes + bytes);
    front.metrics.held(-1);
  }
}
