import { type Diagnostic, PortolanError } from "../../base/diagnostic.ts";
import type { Publishing } from "../../snapshot/publish.ts";
import type { ObjectStore } from "../../storage/object-store.ts";
import { type Clock, monotonicClock } from "../clock.ts";
import type { Recompiled } from "../recompile/recompiled.ts";
import { type Compile, runJob } from "./compile-job.ts";
import { mustBeEntered, noFollowedJob, observeJob } from "./followed-job.ts";
import { type HeldLease, writeLease } from "./lease.ts";
import { type Attribution, joinAttributions, type Outcome, type ToldAsk } from "./lease-note.ts";
import { createLocalWorker } from "./local-worker.ts";
import { type Pace, usualPace } from "./pace.ts";
import { type CompileRequest, createPendingRequests, isCanary, type RequestResult } from "./pending-requests.ts";
import { type LeaseWaitOptions, type LeaseWatch, waitForLease } from "./wait-for-lease.ts";

export interface CompileQueueOptions {
  readonly store: ObjectStore;
  readonly compile: Compile;
  /** The diagnostics of a root that another process has published. */
  readonly diagnosticsOf: (root: string) => Promise<readonly Diagnostic[]>;
  readonly pace?: Partial<Pace>;
  readonly clock?: Clock;
  /** Milliseconds since the epoch; the system's clock when absent. */
  readonly now?: () => number;
  readonly onError?: (cause: unknown) => void;
  readonly onTakenOver?: LeaseWaitOptions["onTakenOver"];
}

/**
 * Compiles on demand. All processes on one store run one compile job at a time; requests that arrive meanwhile share the next one. A
 * request gets the result of a job that began after it, also of another process's job. A job waits a little for more requests. A request
 * for a canary gets a job of its own, in its turn.
 *
 * @returns a function that throws PortolanError, with HEAD untouched, when the store or the compile fails, hangs, or is overtaken
 */
export function createCompileQueue(options: CompileQueueOptions): (publishing?: Publishing) => Promise<Recompiled> {
  const { store, diagnosticsOf, onError = () => {}, onTakenOver = () => {} } = options;
  const { clock = monotonicClock, now = Date.now } = options;
  const pace = { ...usualPace, ...options.pace };
  const holder = crypto.randomUUID();
  const waiting: LeaseWaitOptions = { store, pace, holder, leaseMs: pace.leaseMs, clock, now, onError, onTakenOver };
  const running = { compile: options.compile, pace, clock };
  const pending = createPendingRequests();
  let lastRequestMs = 0;

  async function doJob(): Promise<void> {
    const first = pending.first();
    if (first === undefined) return;
    try {
      await (isCanary(first) ? compileCanary(first) : compileTogether());
    } catch (cause) {
      // Before a job has begun all requests that it would serve are part of it.
      pending.settle(isCanary(first) ? [first] : pending.batch(), { cause });
    }
  }

  async function compileCanary(request: CompileRequest): Promise<void> {
    const lease = await waitForLease(waiting, () => undefined, neverEnds);
    if (lease === undefined) return;
    pending.settle([request], { compiled: await runJob(lease, request.publishing, running) });
  }

  async function compileTogether(): Promise<void> {
    const lease = await waitForLease(waiting, (last) => last + 1, followOthers());
    if (lease === undefined) return;
    const others = await gather(lease);
    const batch = pending.batch();
    const result = await runJob(lease, publishingFor(batch, others), running).then(
      (compiled): RequestResult => ({ compiled }),
      (cause: unknown): RequestResult => ({ cause }),
    );
    pending.settle(batch, result);
  }

  function publishingFor(batch: readonly CompileRequest[], entered: readonly ToldAsk[]): Publishing | undefined {
    const own = batch.map(({ publishing }) => publishing ?? {});
    const reason = own.find((publishing) => publishing.reason !== undefined)?.reason;
    const attribution = joinAttributions([...own, ...entered.filter(({ from }) => from !== holder)]);
    const publishing = { ...attribution, ...(reason === undefined ? {} : { reason }) };
    return Object.keys(publishing).length === 0 ? undefined : publishing;
  }

  /** Waits until there was no request for a while, or for as long as a job may wait. @returns requests entered in the lease */
  async function gather(lease: HeldLease): Promise<readonly ToldAsk[]> {
    const startMs = clock.now();
    for (;;) {
      const quietMs = pace.quietMs - (clock.now() - lastRequestMs);
      const patienceMs = pace.longestWaitMs - (clock.now() - startMs);
      if (quietMs > 0 && patienceMs > 0) {
        await clock.pause(Math.min(quietMs, patienceMs));
        continue;
      }
      try {
        const begun = await lease.begin();
        if (begun !== "more") return begun;
      } catch (cause) {
        await lease.end(undefined);
        throw cause;
      }
      lastRequestMs = clock.now();
    }
  }

  /** Enters requests in the lease of another process, and settles them with the outcome of its job. */
  function followOthers(): LeaseWatch {
    let job = noFollowedJob;
    let isEntered = false;
    return () => {
      const known = pending.batch();
      return async (seen) => {
        const { job: next, outcome, isOpen } = observeJob(job, seen.note, known);
        job = next;
        if (outcome !== undefined) pending.settle(job.counted, await resultOf(outcome));
        const attribution = attributionOf(pending.batch());
        if (isOpen && !isEntered && mustBeEntered(seen.note, attribution)) {
          const asks = [...seen.note.asks, { from: holder, ...attribution }];
          isEntered = (await writeLease(store, seen, { asks })) !== undefined;
        }
        return outcome !== undefined;
      };
    };
  }

  async function resultOf(outcome: Outcome): Promise<RequestResult> {
    if (outcome.kind === "failed") return { cause: new PortolanError(outcome.reason, outcome.diagnostics) };
    return { compiled: { ...outcome.told, diagnostics: await diagnosticsOf(outcome.told.version) } };
  }

  const serve = createLocalWorker(doJob, { clock, pace });
  return async (publishing) => {
    const request = pending.add(publishing);
    lastRequestMs = clock.now();
    await serve(request);
    if (request.result === undefined) throw new Error("the queue returned before the request had a result");
    if ("cause" in request.result) throw request.result.cause;
    return request.result.compiled;
  };
}

const neverEnds: LeaseWatch = () => async () => false;

const attributionOf = (requests: readonly CompileRequest[]): Attribution =>
  joinAttributions(requests.map(({ publishing }) => publishing ?? {}));
