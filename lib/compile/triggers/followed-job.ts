import { type Attribution, type LeaseNote, maxAsks, type Outcome } from "./lease-note.ts";
import type { CompileRequest } from "./pending-requests.ts";

/** What is known of the job of another process that serves requests of this one. */
export interface FollowedJob {
  /** Its number; undefined while no other process compiles. */
  readonly turn: number | undefined;
  /** Requests that were made before it began. */
  readonly counted: readonly CompileRequest[];
}

export const noFollowedJob: FollowedJob = { turn: undefined, counted: [] };

/** What follows from the lease as it was read. */
export interface Observed {
  readonly job: FollowedJob;
  /** What came of the job, once it is over. */
  readonly outcome?: Outcome;
  /** The job has not begun, so that requests can be entered in the lease. */
  readonly isOpen: boolean;
}

/** @param known requests of this process that were pending before the lease was read */
export function observeJob(job: FollowedJob, note: LeaseNote, known: readonly CompileRequest[]): Observed {
  if (note.state === "free" && job.turn === undefined) return { job, isOpen: false };
  const turn = job.turn ?? (note.state === "gathering" ? note.turn : note.turn + 1);
  const isToCome = note.turn < turn || (note.turn === turn && note.state === "gathering");
  const next = { turn, counted: isToCome ? known : job.counted };
  if (note.ended >= turn && note.outcome !== undefined) return { job: next, outcome: note.outcome, isOpen: false };
  return { job: next, isOpen: isToCome && note.state !== "free" && note.asks.length < maxAsks };
}

/** Whether the lease must name these requests: a job that gathers waits for more of them, and the history names who asked and why. */
export const mustBeEntered = (note: LeaseNote, attribution: Attribution): boolean =>
  note.state === "gathering" || Object.keys(attribution).length > 0;
