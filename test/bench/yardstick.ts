/**
 * A fixed plain-JavaScript workload, timed in the same run as what is measured: machines differ by a factor, ratios to
 * this do not. It builds, stringifies, parses and hashes 20,000 small objects.
 */
import { createHash } from "node:crypto";

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

/** `12.3 ms (0.25 yardsticks)`. */
export function withRatio(ms: number, yard: Timing): string {
  return `${ms.toFixed(1)} ms (${(ms / yard.medianMs).toFixed(2)} yardsticks)`;
}
