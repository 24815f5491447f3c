import type { Clock } from "../clock.ts";
import type { Pace } from "./pace.ts";
import type { CompileRequest } from "./pending-requests.ts";

/** The request of this process that carries out jobs now. */
interface Worker {
  /** Grows as long as it lives. */
  signs: number;
}

/** How soon a request that waits looks for its result first. */
const shortestLookMs = 5;

/**
 * Carries out jobs until a request has its result. One of the requests that wait works for all of them, and never one that has its
 * result: at the edge what continues after the answer to a request is cancelled. The others look for theirs by their own timers, since
 * one request cannot wake another there, and one of them continues when the worker was cancelled.
 *
 * @param doJob serves some of the pending requests
 */
export function createLocalWorker(
  doJob: () => Promise<void>,
  { clock, pace }: { readonly clock: Clock; readonly pace: Pace },
): (request: CompileRequest) => Promise<void> {
  let worker: Worker | undefined;

  async function workFor(request: CompileRequest): Promise<void> {
    const own: Worker = { signs: 0 };
    worker = own;
    const endSigns = clock.every(pace.leaseMs / 8, () => {
      own.signs += 1;
    });
    try {
      while (request.result === undefined) await doJob();
    } finally {
      endSigns();
      if (worker === own) worker = undefined;
    }
  }

  /**
   * Waits until there is a result, no worker, or one that gives no sign of life. While this process is busy no time passes for either.
   *
   * @returns the worker to be replaced; undefined for none
   */
  async function waitForWorker(request: CompileRequest): Promise<Worker | undefined> {
    let silentMs = 0;
    let signs = worker?.signs;
    for (let lookMs = shortestLookMs; request.result === undefined; lookMs = Math.min(lookMs * 1.5, pace.pollMs)) {
      const seen = worker;
      if (seen === undefined || silentMs > pace.leaseMs) return seen;
      await clock.pause(lookMs);
      silentMs = worker === seen && seen.signs === signs ? silentMs + lookMs : 0;
      signs = worker?.signs;
    }
    return undefined;
  }

  return async (request) => {
    while (request.result === undefined) {
      const replaced = await waitForWorker(request);
      // Of several that have waited one continues.
      if (request.result === undefined && worker === replaced) await workFor(request);
    }
  };
}
