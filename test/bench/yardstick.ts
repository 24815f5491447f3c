/**
 * A fixed plain-JavaScript workload, timed in the same run as what is measured: machines differ by a factor, ratios to
 * this do not. It builds, stringifies, parses and hashes 20,000 small objects.
 */
import { createHash } from "node:crypto";
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
}

/** @param rounds at least one */
export function timingOf(rounds: readonly Elapsed[]): Timing {
  const sorted = (of: (round: Elapsed) => number) => rounds.map(of).sort((a, b) => a - b);
  const ms = sorted((round) => round.ms);
  const cpuMs = sorted((round) => round.cpuMs);
  const middle = Math.floor(rounds.length / 2);
  return { medianMs: ms[middle] ?? 0, minMs: ms[0] ?? 0, medianCpuMs: cpuMs[middle] ?? 0 };
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
const warmUpMs = 1000;

/**
 * As `time`, for runs that say themselves how long the part took that counts, and are told which round it is. Garbage is
 * collected when it comes, inside the rounds: a forced collection before each throws compiled code away too.
 *
 * @param rounds that are measured; Istio's figures are of 15
 * @param warmUp the least number of unmeasured rounds before; 0: none at all
 */
export function measure(run: (round: number) => Elapsed, rounds = 15, warmUp = 15): Timing {
  const warm = warmUp === 0 ? 0 : performance.now() + warmUpMs;
  let round = 0;
  while (round < warmUp || performance.now() < warm) run(round++);
  return timingOf(Array.from({ length: rounds }, () => run(round++)));
}

/** Runs once. */
export function elapsedIn(run: () => unknown): Elapsed {
  const elapsed = stopwatch();
  run();
  return elapsed();
}

/** A line of a table of times, beside Istio's where it has one. */
export function timingRow(what: string, timing: Timing, yard: Timing, istio?: IstioFigure): Row {
  const { medianMs, minMs, medianCpuMs } = timing;
  // The system may count CPU time in steps of 4 ms, too large for what is short: there the clock may be the better one.
  const short = medianCpuMs < 1 ? minMs : Math.min(minMs, medianCpuMs);
  const ours = medianCpuMs < 10 ? short : medianCpuMs;
  const theirs =
    istio === undefined
      ? {}
      : {
          "Istio, ms": istio.warm === undefined ? `${istio.cold}` : `${istio.cold} cold, ${istio.warm} warm`,
          "Istio cold / ours": istio.cold / ours,
        };
  return {
    "": what,
    ms: medianMs,
    best: minMs,
    CPU: medianCpuMs,
    yardsticks: ours / yard.medianCpuMs,
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
