/**
 * 100,000 nodes that poll, over a clock of their own: when each of them asks follows Envoy's timers, what an answer takes follows the
 * front's rules. No server runs; what one request costs says `npm run bench -- front`.
 */
import { lambdaMonth, listPrices, machinesMonth, workersMonth } from "../../lib/cli/cost/prices.ts";
import { type Use, useOf, usualFleet } from "../../lib/cli/cost/use.ts";
import type { BenchOptions, Row } from "./report.ts";

const nodes = 100_000;
/** Of each: clusters, listeners, and two route tables. */
const loopsPerNode = 4;
/** What a change changes: the route tables of everybody, 20 KB each. */
const changedLoops = 2;
const answerBytes = 20_000;
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
  /** What a month without changes costs, in dollars, by the formula of docs/cost.md. */
  readonly monthly: (use: Use) => number;
}

const ways: readonly Way[] = [
  {
    name: "Workers, not held, delay 1 s",
    delayMs: 1_000,
    holdMs: 0,
    fronts: 300,
    headTtlMs: 1_000,
    monthly: (use) => workersMonth(use, listPrices),
  },
  {
    name: "Workers, not held, delay 10 s",
    delayMs: 10_000,
    holdMs: 0,
    fronts: 300,
    headTtlMs: 1_000,
    monthly: (use) => workersMonth(use, listPrices),
  },
  {
    name: "Lambda, not held, delay 10 s",
    delayMs: 10_000,
    holdMs: 0,
    fronts: 100,
    headTtlMs: 1_000,
    monthly: (use) => lambdaMonth(use, listPrices),
  },
  {
    name: "Node on S3, held 25 s, delay 1 s",
    delayMs: 1_000,
    holdMs: 25_000,
    fronts: 50,
    headTtlMs: 1_000,
    monthly: (use) => machinesMonth(use, { fronts: 50 }, listPrices),
  },
];

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
    const { delayMs, holdMs, fronts, headTtlMs } = way;
    const fleet = { ...usualFleet, proxies: count, loops: loopsPerNode, delayMs, holdMs, fronts, headTtlMs };
    const still = { ...fleet, changes: 0, idleCompiles: 0, storedBytes: 0 };
    const aSecond = useOf(still, 1_000);
    return {
      "": way.name,
      "requests, 1/s": Math.round(requests),
      "reads of the store, 1/s": Math.round(aSecond.storeReads),
      "in, KB/s": Math.round(aSecond.bytesIn / 1_000),
      "out, KB/s": Math.round(aSecond.bytesOut / 1_000),
      "after a change: most requests in 100 ms": herdPer100Ms,
      "bytes of a change, MB": Math.round((count * changedLoops * answerBytes) / 1e6),
      "has it, ms: half": halfMs,
      "99 %": mostMs,
      all: allMs,
      "$ a month": Math.round(way.monthly(useOf(still))),
    };
  });
  report.table(`${count} nodes with ${loopsPerNode} loops each, over a clock of their own`, rows);
}
