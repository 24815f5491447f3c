/** Prices as the platforms' lists had them, and what a month comes to by them. */
import type { Fleet, Use } from "./use.ts";

/** In dollars, without tax. Each can be replaced: lists change, and differ by region. */
export interface Prices {
  /** When somebody last compared them with the lists. */
  readonly asOf: string;
  /**
   * @see https://developers.cloudflare.com/workers/platform/pricing/
   * @see https://developers.cloudflare.com/r2/pricing/
   * @see https://developers.cloudflare.com/workers/observability/logs/workers-logs/
   */
  readonly cloudflare: {
    readonly base: number;
    readonly requestsIncluded: number;
    readonly millionRequests: number;
    readonly cpuMsIncluded: number;
    readonly millionCpuMs: number;
    readonly readsIncluded: number;
    readonly millionReads: number;
    readonly writesIncluded: number;
    readonly millionWrites: number;
    readonly storedGbMonth: number;
    readonly logLinesIncluded: number;
    readonly millionLogLines: number;
    /** CPU of a poll: more than was measured. */
    readonly pollCpuMs: number;
    /** CPU of each second that a poll is held, in which it looks at the clock, and one of all at HEAD: more than was measured. */
    readonly heldSecondCpuMs: number;
  };
  /** us-east-1, arm64. @see https://aws.amazon.com/lambda/pricing/ @see https://aws.amazon.com/s3/pricing/ @see https://aws.amazon.com/ec2/pricing/on-demand/ @see https://aws.amazon.com/cloudwatch/pricing/ */
  readonly aws: {
    readonly millionRequests: number;
    readonly gbSecond: number;
    readonly thousandReads: number;
    readonly thousandWrites: number;
    readonly storedGbMonth: number;
    readonly gbOut: number;
    /** Taken in by CloudWatch, of the first 10 TB a month. */
    readonly gbLogs: number;
    /** Time and memory of a poll: more than was measured. */
    readonly pollMs: number;
    readonly frontGb: number;
    readonly compileGb: number;
    /** A machine with 2 cores and 2 GiB (t4g.small), a month. */
    readonly machine: number;
  };
}

export const listPrices: Prices = {
  asOf: "2026-11",
  cloudflare: {
    base: 5,
    requestsIncluded: 10e6,
    millionRequests: 0.3,
    cpuMsIncluded: 30e6,
    millionCpuMs: 0.02,
    readsIncluded: 10e6,
    millionReads: 0.36,
    writesIncluded: 1e6,
    millionWrites: 4.5,
    storedGbMonth: 0.015,
    logLinesIncluded: 20e6,
    millionLogLines: 0.6,
    pollCpuMs: 1,
    heldSecondCpuMs: 0.15,
  },
  aws: {
    millionRequests: 0.2,
    gbSecond: 0.0000133334,
    thousandReads: 0.0004,
    thousandWrites: 0.005,
    storedGbMonth: 0.023,
    gbOut: 0.09,
    gbLogs: 0.5,
    pollMs: 3,
    frontGb: 0.5,
    compileGb: 2,
    machine: 12.26,
  },
};

const beyond = (used: number, included: number) => Math.max(used - included, 0) / 1e6;

/** Both Workers and R2. Time is not billed there: CPU is, that of waiting too, and looks at HEAD. */
export function workersMonth(use: Use, { cloudflare: price }: Prices): number {
  const cpuMs = use.requests * price.pollCpuMs + use.heldSeconds * price.heldSecondCpuMs + use.compileMs;
  return (
    price.base +
    beyond(use.requests + use.compiles, price.requestsIncluded) * price.millionRequests +
    beyond(cpuMs, price.cpuMsIncluded) * price.millionCpuMs +
    beyond(use.storeReads, price.readsIncluded) * price.millionReads +
    beyond(use.storeWrites, price.writesIncluded) * price.millionWrites +
    beyond(use.logLines, price.logLinesIncluded) * price.millionLogLines +
    (use.storedBytes / 1e9) * price.storedGbMonth
  );
}

/** Both functions and S3. Waiting is billed, which is why polls are not held there. */
export function lambdaMonth(use: Use, { aws: price }: Prices): number {
  const frontMs = use.requests * price.pollMs + use.heldSeconds * 1_000;
  const gbSeconds = (frontMs * price.frontGb + use.compileMs * price.compileGb) / 1_000;
  return (
    ((use.requests + use.compiles) / 1e6) * price.millionRequests +
    gbSeconds * price.gbSecond +
    (use.logBytes / 1e9) * price.gbLogs +
    s3Month(use, price)
  );
}

/** Fronts on machines of their own, the compile function on Lambda, S3. */
export function machinesMonth(use: Use, fleet: Pick<Fleet, "fronts">, { aws: price }: Prices): number {
  const gbSeconds = (use.compileMs * price.compileGb) / 1_000;
  return fleet.fronts * price.machine + gbSeconds * price.gbSecond + s3Month(use, price);
}

function s3Month(use: Use, price: Prices["aws"]): number {
  return (
    (use.storeReads / 1e3) * price.thousandReads +
    (use.storeWrites / 1e3) * price.thousandWrites +
    (use.storedBytes / 1e9) * price.storedGbMonth +
    (use.bytesOut / 1e9) * price.gbOut
  );
}
