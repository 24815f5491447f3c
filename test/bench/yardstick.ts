/**
 * A fixed plain-JavaScript workload, timed in the same run as what is measured: machines differ by a factor, ratios to
 * this do not. It builds, stringifies, parses and hashes 20,000 small objects.
 */
import { createHash } from "node:crypto";
import { collectYoung } from "../collect-garbage.ts";
import type { IstioFigure } from "./istio-figures.ts";
import type { Row } from "./report.ts";

/** How long something took. */
export interface Elapsed {
  readonly ms: number;
  /** CPU time of the thread: what is left when other processes share the cores. */
  readonly cpuMs: number;
}

/** Begins to measure; each call of the result says how much went by since. */
export function stopwatch(): () => Elapsed {
  const start = performance.now();
  const startCpu = process.threadCpuUsage();
  return () => {
    const { user, system } = process.threadCpuUsage(startCpu);
    return { ms: performance.now() - start, cpuMs: (user + system) / 1000 };
  };
}

/** Several rounds of the same. */
export interface Timing {
  readonly medianMs: number;
  readonly minMs: number;
  readonly medianCpuMs: number;
  /** Median of rounds that follow each other without a break: what the garbage collector takes is in it. */
  readonly runningMs?: number;
}

/** @param rounds at least one */
export function timingOf(rounds: readonly Elapsed[]): Timing {
  const ms = rounds.map((round) => round.ms);
  return {
    medianMs: median(ms),
    minMs: Math.min(...ms),
    medianCpuMs: median(rounds.map((round) => round.cpuMs)),
  };
}

/** Of an even number of values the upper of the two in the middle; 0 of none. */
export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

/** `rounds` runs; the first `warmUp` runs are thrown away. */
export async function time(run: () => unknown, rounds = 7, warmUp = 2): Promise<Timing> {
  const samples: Elapsed[] = [];
  for (let round = 0; round < rounds + warmUp; round += 1) {
    const elapsed = stopwatch();
    await run();
    if (round >= warmUp) samples.push(elapsed());
  }
  return timingOf(samples);
}

/** Unmeasured rounds last at least this long, ms: then V8 has compiled what a process that keeps running has compiled. */
const warmUpMs = 3000;

/** Measured rounds last at least this long, ms: a shared machine has slow moments, and many rounds of a short one fit into them. */
const measuredMs = 1000;

/** How many rounds `measure` takes; Istio's figures are of 15. */
export interface Rounds {
  /** The least number. */
  readonly measured: number;
  /** The least number of unmeasured rounds before. */
  readonly warmUp: number;
}

/** One that is printed to see that it still runs needs no preparation. */
const quickly: Rounds = { measured: 1, warmUp: 0 };

export function roundsOf(quick: boolean, rounds: Partial<Rounds> = {}): Rounds {
  return quick ? quickly : { measured: 15, warmUp: 15, ...rounds };
}

/**
 * Measures twice: rounds that follow each other, then as many that each begin after a collection, as Istio's do. The
 * clock is the second argument of `run`: it is started where the part begins that counts.
 */
export function measure(
  run: (round: number, start: () => () => Elapsed) => Elapsed,
  { measured, warmUp }: Rounds = roundsOf(false),
): Timing {
  const quick = warmUp === 0;
  let round = 0;
  const rounds = (least: number, leastMs: number, start: typeof stopwatch): Elapsed[] => {
    const end = quick ? 0 : performance.now() + leastMs;
    const found: Elapsed[] = [];
    while (found.length < least || performance.now() < end) found.push(run(round++, start));
    return found;
  };
  rounds(warmUp, warmUpMs, stopwatch);
  const running = rounds(measured, measuredMs, stopwatch);
  const collected = rounds(measured, measuredMs, stopwatchAfterCollection);
  return { ...timingOf(collected), runningMs: timingOf(running).medianMs };
}

/** A `stopwatch` that starts with nothing left to collect of what died young. */
export function stopwatchAfterCollection(): () => Elapsed {
  collectYoung();
  return stopwatch();
}

/** Runs once. */
export function elapsedIn(run: () => unknown, start = stopwatch): Elapsed {
  const elapsed = start();
  run();
  return elapsed();
}

/** A line of a table of times, beside Istio's where it has one. */
export function timingRow(what: string, timing: Timing, yard: Timing, istio?: IstioFigure): Row {
  const { medianMs, minMs, runningMs, medianCpuMs } = timing;
  const theirs =
    istio === undefined
      ? {}
      : {
          "Istio, ms": istio.warm === undefined ? `${istio.cold}` : `${istio.cold} cold, ${istio.warm} warm`,
          "Istio cold / ours": istio.cold / medianMs,
        };
  return {
    "": what,
    ms: medianMs,
    best: minMs,
    ...(runningMs === undefined ? {} : { running: runningMs }),
    CPU: medianCpuMs,
    yardsticks: medianMs / yard.medianMs,
    ...theirs,
  };
}

function workload(): string {
  const objects = Array.from({ length: 20_000 }, (_, index) => ({
    name: `outbound|${index}||svc.ns.svc.cluster.local`,
    type: "EDS",
    connectTimeout: "10s",
    metadata: { filterMetadata: { istio: { services: [{ host: `svc-${index}`, name: "svc", namespace: "ns" }] } } },
  }));
  const parsed: unknown = JSON.parse(JSON.stringify(objects));
  return createHash("sha256").update(JSON.stringify(parsed)).digest("hex");
}

/** The yardstick of this machine, now; about 50 ms on the machine of the reference figures. */
export const yardstick = async (): Promise<Timing> => time(workload);
