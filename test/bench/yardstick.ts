/**
 * A fixed plain-JavaScript workload, timed in the same run as what is measured: machines differ by a factor, ratios to
 * this do not. It builds, stringifies, parses and hashes 20,000 small objects.
 */
import { createHash } from "node:crypto";
import type { IstioFigure } from "./istio-figures.ts";
import type { Row } from "./report.ts";

export interface Timing {
  readonly medianMs: number;
  readonly minMs: number;
}

/** Median and minimum of `rounds` runs; the first `warmUp` runs are thrown away. */
export async function time(run: () => unknown, rounds = 7, warmUp = 2): Promise<Timing> {
  const samples: number[] = [];
  for (let round = 0; round < rounds + warmUp; round += 1) {
    const start = performance.now();
    await run();
    if (round >= warmUp) samples.push(performance.now() - start);
  }
  samples.sort((a, b) => a - b);
  return { medianMs: samples[Math.floor(samples.length / 2)] ?? 0, minMs: samples[0] ?? 0 };
}

/**
 * Median and minimum of what `run` says it took, or else takes itself. Garbage is collected when it comes, inside the
 * rounds: a forced collection before each throws compiled code away too.
 */
export function measure(run: (round: number) => number | undefined | object, rounds = 7, warmUp = 5): Timing {
  const samples: number[] = [];
  for (let round = 0; round < rounds + warmUp; round += 1) {
    const start = performance.now();
    const said = run(round);
    if (round >= warmUp) samples.push(typeof said === "number" ? said : performance.now() - start);
  }
  samples.sort((a, b) => a - b);
  return { medianMs: samples[Math.floor(samples.length / 2)] ?? 0, minMs: samples[0] ?? 0 };
}

/** A line of a table of times, beside Istio's where it has one. */
export function timingRow(what: string, timing: Timing, yard: Timing, istio?: IstioFigure): Row {
  const { medianMs, minMs } = timing;
  const theirs =
    istio === undefined
      ? {}
      : {
          "Istio, ms": istio.warm === undefined ? `${istio.cold}` : `${istio.cold} cold, ${istio.warm} warm`,
          "Istio cold / ours": istio.cold / medianMs,
        };
  return { "": what, ms: medianMs, best: minMs, yardsticks: medianMs / yard.medianMs, ...theirs };
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
