import type { Pace } from "../origin/retry.ts";
import { askConsul, type ConsulClient } from "./agent.ts";
import { reasonOf } from "./snapshot.ts";

/** Milliseconds between two queries of one kind, however fast changes come. */
const shortestMs = 1000;

export interface Followed {
  /** Something may be different now: the first answer, another index, another body, or the first answer after a failure. */
  changed(): void;
  /** Consul has begun to count anew: it was restored, or has lost what it knew. */
  startedOver(): void;
  failed(reason: string): void;
}

/**
 * Blocks on one query over and over, until the signal says stop. An index that goes back is not followed: the next query starts
 * from nothing and is answered at once. An index can move while the body stays: `catalog/services` names services and tags, and
 * wakes for their instances.
 */
export async function followConsul(
  client: ConsulClient,
  path: string,
  { pace, waitMs }: { readonly pace: Pace; readonly waitMs: number },
  signal: AbortSignal,
  told: Followed,
): Promise<void> {
  let last: { readonly index: number; readonly text: string } | undefined;
  let from = 0;
  let failures = 0;
  while (!signal.aborted) {
    try {
      const answer = await askConsul(client, path, signal, from > 0 ? { index: from, waitMs } : undefined);
      const isBack = last !== undefined && answer.index < last.index;
      if (isBack) told.startedOver();
      if (failures > 0 || last?.index !== answer.index || last.text !== answer.text) told.changed();
      failures = 0;
      from = isBack ? 0 : answer.index;
      last = answer;
      await pace.pause(shortestMs, signal);
    } catch (cause) {
      if (signal.aborted) return;
      failures += 1;
      // Whoever answers next may be another server.
      from = 0;
      told.failed(reasonOf(cause));
      await pace.pause(pace.backOff(failures), signal);
    }
  }
}
