/**
 * 100,000 nodes that poll, over a clock of their own: when each of them asks follows Envoy's timers, what an answer takes follows the
 * front's rules. No server runs; what one request costs says `npm run bench -- front`.
 */
import type { BenchOptions, Row } from "./report.ts";

const nodes = 100_000;
/** Of each: clusters, listeners, and two route tables. */
const loopsPerNode = 4;
/** What a change changes: the route tables of everybody, 20 KB each. */
const changedLoops = 2;
const answerBytes = 20_000;
/** A slim poll and its answer, with their headers. */
const pollBytes = 1_000;
const unchangedBytes = 120;

/** How a fleet is served. */
interface Way {
  readonly name: string;
  /** Of the bootstrap: the next poll comes between one and two of it after an answer. */
  readonly delayMs: number;
  /** How long a poll without news is held; 0: not at all. */
  readonly holdMs: number;
  /** Processes or isolates that serve at a time, each of which looks at HEAD at most once in `headTtlMs`. */
  readonly fronts: number;
  readonly headTtlMs: number;
  /** What a month costs, in dollars. */
  readonly monthly: (use: Use) => number;
}

/** What is used, a second. */
interface Use {
  readonly requests: number;
  readonly headReads: number;
  readonly bytesOut: number;
}

const monthSeconds = 30 * 24 * 3_600;
const million = 1_000_000;

/** CPU time of a request at the edge, and time and memory of one on Lambda: assumptions, larger than what was measured. */
const workerCpuMs = 1;
const lambdaMs = 3;
const lambdaGb = 0.256;

/** A machine with 2 cores and 2 GiB, in dollars a month. @see https://aws.amazon.com/ec2/pricing/on-demand/ (t4g.small) */
const machine = 12.26;

const ways: readonly Way[] = [
  {
    name: "Workers, not held, delay 1 s",
    delayMs: 1_000,
    holdMs: 0,
    fronts: 300,
    headTtlMs: 1_000,
    monthly: workers,
  },
  {
    name: "Workers, not held, delay 10 s",
    delayMs: 10_000,
    holdMs: 0,
    fronts: 300,
    headTtlMs: 1_000,
    monthly: workers,
  },
  {
    name: "Lambda, not held, delay 10 s",
    delayMs: 10_000,
    holdMs: 0,
    fronts: 100,
    headTtlMs: 1_000,
    monthly: lambda,
  },
  {
    name: "Node on S3, held 25 s, delay 1 s",
    delayMs: 1_000,
    holdMs: 25_000,
    fronts: 50,
    headTtlMs: 1_000,
    monthly: ({ headReads, bytesOut }) => 50 * machine + s3Reads(headReads) + egress(bytesOut),
  },
];

/** @see https://developers.cloudflare.com/workers/platform/pricing/ and https://developers.cloudflare.com/r2/pricing/ */
function workers({ requests, headReads }: Use): number {
  const count = requests * monthSeconds;
  const beyond = (used: number, free: number) => Math.max(used - free, 0) / million;
  return (
    5 +
    beyond(count, 10 * million) * 0.3 +
    beyond(count * workerCpuMs, 30 * million) * 0.02 +
    beyond(headReads * monthSeconds, 10 * million) * 0.36
  );
}

/** @see https://aws.amazon.com/lambda/pricing/ (arm64, us-east-1) */
function lambda({ requests, headReads, bytesOut }: Use): number {
  const count = requests * monthSeconds;
  const gbSeconds = (count * lambdaMs * lambdaGb) / 1_000;
  return (count / million) * 0.2 + gbSeconds * 0.0000133334 + s3Reads(headReads) + egress(bytesOut);
}

/** @see https://aws.amazon.com/s3/pricing/ */
const s3Reads = (perSecond: number): number => ((perSecond * monthSeconds) / 1_000) * 0.0004;

/** @see https://aws.amazon.com/ec2/pricing/on-demand/ : data out to the internet */
const egress = (bytesPerSecond: number): number => ((bytesPerSecond * monthSeconds) / 1e9) * 0.09;

/** Equal numbers between 0 and 1 in every run. */
function numbersFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

interface Simulated {
  /** A second, while nothing changes. */
  readonly requests: number;
  /** After a change: the most requests within 100 ms, and when half, 99 of 100 and all of the loops that it concerns had it. */
  readonly herdPer100Ms: number;
  readonly halfMs: number;
  readonly mostMs: number;
  readonly allMs: number;
}

/** A change at one moment, after the loops have drifted apart for a while. */
function simulate({ delayMs, holdMs, headTtlMs, fronts }: Way, count: number): Simulated {
  const next = numbersFrom(1);
  const pause = () => delayMs * (1 + next());
  // When each loop asks: at first anywhere within a round.
  const roundMs = 1.5 * delayMs + holdMs;
  const changeAtMs = 10 * roundMs;
  const endMs = changeAtMs + 2 * (2 * delayMs + holdMs + headTtlMs);
  /** When each front sees the change. */
  const seenAtMs = Array.from({ length: fronts }, () => changeAtMs + next() * headTtlMs);
  let requests = 0;
  const got: number[] = [];
  const herd = new Map<number, number>();
  for (let loop = 0; loop < count * loopsPerNode; loop += 1) {
    const isConcerned = loop % loopsPerNode < changedLoops;
    const front = loop % fronts;
    let hasIt = false;
    for (let atMs = next() * roundMs; atMs < endMs; ) {
      if (atMs < changeAtMs) requests += 1;
      const slot = Math.floor(atMs / 100);
      if (atMs >= changeAtMs) herd.set(slot, (herd.get(slot) ?? 0) + 1);
      const newsMs = seenAtMs[front] ?? 0;
      const isNews = isConcerned && !hasIt;
      // An answer comes at once, with the change, or when the hold is over.
      const answerMs = isNews && atMs >= newsMs ? atMs : isNews && atMs + holdMs >= newsMs ? newsMs : atMs + holdMs;
      if (isNews && answerMs >= newsMs) {
        hasIt = true;
        got.push(answerMs - changeAtMs);
      }
      atMs = answerMs + pause();
    }
  }
  got.sort((a, b) => a - b);
  const at = (share: number) => Math.round(got[Math.floor((got.length - 1) * share)] ?? 0);
  return {
    requests: requests / (changeAtMs / 1_000),
    herdPer100Ms: Math.max(...herd.values()),
    halfMs: at(0.5),
    mostMs: at(0.99),
    allMs: at(1),
  };
}

export async function crowdBench({ report, quick }: BenchOptions): Promise<void> {
  const count = quick ? nodes / 100 : nodes;
  const rows: Row[] = ways.map((way) => {
    const { requests, herdPer100Ms, halfMs, mostMs, allMs } = simulate(way, count);
    const headReads = Math.min(way.fronts * (1_000 / way.headTtlMs), requests);
    const bytesOut = requests * unchangedBytes;
    return {
      "": way.name,
      "requests, 1/s": Math.round(requests),
      "reads of the store, 1/s": Math.round(headReads),
      "in, KB/s": Math.round((requests * pollBytes) / 1_000),
      "out, KB/s": Math.round(bytesOut / 1_000),
      "after a change: most requests in 100 ms": herdPer100Ms,
      "bytes of a change, MB": Math.round((count * changedLoops * answerBytes) / 1e6),
      "has it, ms: half": halfMs,
      "99 %": mostMs,
      all: allMs,
      "$ a month": Math.round(way.monthly({ requests, headReads, bytesOut })),
    };
  });
  report.table(`${count} nodes with ${loopsPerNode} loops each, over a clock of their own`, rows);
}
