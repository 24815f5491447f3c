import type { Pace } from "../../origin/retry.ts";

/**
 * The waits of collections whose server did not answer. Each waits by itself for up to half a minute; when the server answers one of
 * them again, the others need not wait any longer.
 */
export interface FailureWaits {
  /**
   * Waits after a failure.
   *
   * @param isEndable whether an answer to another collection may end it; not for one that such an answer has sent out in vain, which may
   *   fail for a reason of its own
   * @returns whether an answer has ended it
   */
  pause(milliseconds: number, signal: AbortSignal, isEndable: boolean): Promise<boolean>;
  failed(part: string): void;
  /** Ends the waits of the others where this collection has failed before. */
  answered(part: string): void;
}

export function createFailureWaits(pace: Pick<Pace, "pause">): FailureWaits {
  const failing = new Set<string>();
  let waiting = new AbortController();
  return {
    async pause(milliseconds, signal, isEndable) {
      const { signal: ended } = waiting;
      await pace.pause(milliseconds, isEndable ? AbortSignal.any([signal, ended]) : signal);
      return isEndable && ended.aborted;
    },
    failed(part) {
      failing.add(part);
    },
    answered(part) {
      if (!failing.delete(part)) return;
      waiting.abort();
      waiting = new AbortController();
    },
  };
}
