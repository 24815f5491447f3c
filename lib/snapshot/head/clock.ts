/**
 * Clocks that differ. HEAD's steps have times, a publisher plans them and many fronts serve them; so all go by the store's clock
 * where it can be seen, and HEAD's own time goes on from when it was written, whatever its writer's clock showed.
 */
import type { ObjectStore } from "../../storage/object-store.ts";
import type { Head, RolloutStage } from "../root.ts";
import type { ReadHead } from "./head.ts";
import { defaultPace, type Pace } from "./plan-stages.ts";

/** Clocks that differ by no more are taken to agree: stores tell whole seconds, and a write takes a while. */
const agreeMs = 2_000;

/** The store's clock, as this process's clock with what it is ahead or behind taken off. */
export async function storeClock(store: ObjectStore, now: () => number): Promise<() => number> {
  const aheadMs = await clockAheadMs(store, now);
  return () => now() - aheadMs;
}

/** How far this process's clock is ahead of the store's; 0 when they agree, or the store does not tell. */
export async function clockAheadMs(store: ObjectStore, now: () => number): Promise<number> {
  const there = await store.time?.();
  return there === undefined ? 0 : beyondAgreement(now() - there);
}

/** How far the clock of whoever wrote HEAD was ahead of the store's; 0 when they agreed, or it cannot be told. */
export function writerAheadMs({ head, modifiedMs }: Pick<ReadHead, "head" | "modifiedMs">): number {
  if (head.at === undefined || modifiedMs === undefined) return 0;
  return beyondAgreement(Date.parse(head.at) - modifiedMs);
}

const beyondAgreement = (ms: number): number => (Math.abs(ms) <= agreeMs ? 0 : ms);

/** What the clock of HEAD's steps shows when the store's shows `nowMs`. */
export function headTimeMs(read: Pick<ReadHead, "head" | "modifiedMs">, nowMs: number): number {
  return nowMs + writerAheadMs(read);
}

/** The same, now. @param now this process's clock */
export async function headTimeNow(store: ObjectStore, read: ReadHead, now: () => number): Promise<number> {
  return headTimeMs(read, (await storeClock(store, now))());
}

/** What is wrong with clocks, for people. @param aheadMs of the clock of whoever reads */
export function clockWarnings(aheadMs: number, writerMs: number): readonly string[] {
  return [
    ...(aheadMs === 0 ? [] : [`this clock is ${aheadText(aheadMs)} the store's`]),
    ...(writerMs === 0
      ? []
      : [
          // A copied file is as old as its copy.
          `the clock of HEAD's publisher was ${aheadText(writerMs)} the store's${writerMs > 0 ? "" : ", or the store was copied since"}`,
        ]),
  ];
}

const aheadText = (ms: number) => `${Math.round(Math.abs(ms) / 1_000)} s ${ms > 0 ? "ahead of" : "behind"}`;

/**
 * HEAD with the times of its steps by the clock that shows `nowMs`. No step is farther off than a publish of now could put it,
 * so that nobody's clock can put off what comes after.
 */
export function onClock(read: ReadHead, nowMs: number, pace: Pace): Head {
  const { steps, cohorts } = read.head;
  const aheadMs = writerAheadMs(read);
  const slower = {
    settleMs: Math.max(pace.settleMs, defaultPace.settleMs),
    retentionMs: Math.max(pace.retentionMs, defaultPace.retentionMs),
  };
  // `planStages` rounds up by a half at most.
  const latestMs = nowMs + 1.5 * (slower.settleMs + slower.retentionMs);
  const move = (list: readonly RolloutStage[]) => bounded(list, aheadMs, nowMs, latestMs);
  return {
    ...read.head,
    steps: move(steps),
    ...(cohorts === undefined ? {} : { cohorts: cohorts.map((cohort) => ({ ...cohort, steps: move(cohort.steps) })) }),
  };
}

function bounded(
  steps: readonly RolloutStage[],
  aheadMs: number,
  nowMs: number,
  latestMs: number,
): readonly RolloutStage[] {
  const times = steps.map(({ at }) => Date.parse(at) - aheadMs);
  const tooFarMs = Math.max(0, (times.at(-1) ?? nowMs) - latestMs);
  if (aheadMs === 0 && tooFarMs === 0) return steps;
  return steps.map((stage, i) => {
    const atMs = times[i] ?? nowMs;
    return { ...stage, at: new Date(atMs > nowMs ? atMs - tooFarMs : atMs).toISOString() };
  });
}
