import { setTimeout as sleep } from "node:timers/promises";
import { PortolanError } from "../../lib/base/diagnostic.ts";
import { createRecompiler } from "../../lib/compile/recompile.ts";
import { writeShard } from "../../lib/compile/shards/write-shard.ts";
import { frontApp } from "../../lib/front/app.ts";
import { createFront } from "../../lib/front/front.ts";
import { pollBody } from "../front/fixtures.ts";
import { seeded } from "../snapshot/faulty-store.ts";
import { type ActOf, acts, type Scene } from "./acts.ts";
import { checkStore, headViolations, type Said } from "./invariants.ts";
import { pace, textOf } from "./mesh.ts";
import { openTarget, type Place, type PlaceName } from "./place.ts";
import { type Publishers, startPublishers } from "./publishers.ts";

export interface FaultOptions {
  /** For each place. */
  readonly rounds: number;
  /** Decides what is done in which order; the moments are the machine's. */
  readonly seed: number;
  readonly places: readonly PlaceName[];
  readonly onProgress?: (line: string) => void;
  /** Ends the rounds early. */
  readonly signal?: AbortSignal;
}

/** What was done at a place, and what came of it. */
export interface FaultReport {
  readonly place: PlaceName;
  readonly rounds: number;
  readonly seconds: number;
  /** How often each act was done, and how often it was refused with a reason. */
  readonly acts: Readonly<Record<string, { readonly done: number; readonly refused: number }>>;
  /** Publishes that were acknowledged, and those that failed with a reason. */
  readonly acknowledged: number;
  readonly failed: number;
  /** Roots that were read as a whole, over and over. */
  readonly roots: number;
  /** Blobs that were damaged, and written anew. */
  readonly mended: number;
  readonly polls: { readonly answered: number; readonly refused: number; readonly slowestMs: number };
  /** What may never happen and did. */
  readonly violations: readonly string[];
}

/** How long a poll may take whatever the store does, and after a silence, on a machine that is busy. */
const slowMs = 5_500;
/** The whole store is looked at every so many rounds. */
const checkEvery = 6;

export async function tryFaults({ rounds, seed, places, ...more }: FaultOptions): Promise<readonly FaultReport[]> {
  const reports: FaultReport[] = [];
  for (const name of places) {
    if (more.signal?.aborted === true) break;
    const place = await openTarget(name);
    try {
      reports.push(await tryAt(place, rounds, seeded(seed), more));
    } finally {
      await place.close();
    }
  }
  return reports;
}

async function tryAt(
  place: Place,
  rounds: number,
  random: () => number,
  { onProgress, signal }: Pick<FaultOptions, "onProgress" | "signal">,
): Promise<FaultReport> {
  const startMs = performance.now();
  const violations: string[] = [];
  const counts: Record<string, { done: number; refused: number }> = {};
  const sources = ["a", "bb", "ccc"];
  for (const source of sources) {
    await writeShard(place.store, source, [{ file: "shop.yaml", text: textOf(source, 0) }]);
  }
  await createRecompiler({ store: place.store, publisher: { pace } })();
  const publishers = startPublishers(place, sources);
  const front = createFront({ store: place.frontStore, headTtlMs: 100 });
  const polls = poller(frontApp(front).request);
  const scene: Scene = { place, publishers, random, meanwhile: () => polls.ask(false) };
  const deal = dealer(random);
  let said: Said = {};
  let [roots, mended] = [0, 0];
  let isDamaged = false;
  let isHeadLost = false;
  let round = 0;

  async function check(): Promise<void> {
    const result = await checkStore(place.store, publishers.acknowledged);
    roots += result.roots;
    mended += result.mended;
    isDamaged = false;
    violations.push(...result.violations);
  }

  try {
    await publishedOften(publishers);
    for (; round < rounds && !isHeadLost && signal?.aborted !== true; round += 1) {
      const [name, act] = deal();
      counts[name] ??= { done: 0, refused: 0 };
      if ((isDamaged && needWhole.has(name)) || name === "collecting garbage" || round % checkEvery === checkEvery - 1)
        await check();
      const found: string[] = [];
      try {
        const acted = await act(scene, said);
        if (acted !== undefined) counts[name].done += 1;
        said = acted?.said ?? said;
        found.push(...(acted?.violations ?? []));
      } catch (cause) {
        if (!(cause instanceof PortolanError)) throw cause;
        counts[name].refused += 1;
        // What is damaged is in the way of operators, until it is mended.
        if (!isDamaged) found.push(`refused: ${cause.message}`);
      }
      isDamaged ||= name === "a damaged blob";
      const ofHead = await headViolations(place.store, said);
      // Nothing goes on over it; what came before is told all the same.
      isHeadLost = ofHead.some((text) => text.startsWith("HEAD"));
      found.push(...ofHead, ...(await polls.ask(isDamaged)));
      violations.push(...found.map((text) => `round ${round}, ${name}: ${text}`));
      if (round % 20 === 19) onProgress?.(`${place.name}: ${round + 1} rounds, ${violations.length} violations`);
    }
  } finally {
    await publishers.killAll();
    front.close();
  }
  if (!isHeadLost) {
    // Nothing is published over what is damaged.
    if (isDamaged) await check();
    // Whoever was killed has left what the next compile takes along.
    await createRecompiler({ store: place.store, publisher: { pace } })();
    await check();
    violations.push(...(await headViolations(place.store, said)));
  }
  violations.push(...publishers.deaths);
  return {
    place: place.name,
    rounds: round,
    seconds: Math.round((performance.now() - startMs) / 1_000),
    acts: counts,
    acknowledged: publishers.acknowledged.length,
    failed: publishers.failed(),
    roots,
    mended,
    polls: polls.counts(),
    violations,
  };
}

/** Acts of several parts, in whose way nothing is to be. */
const needWhole: ReadonlySet<string> = new Set([
  "a lost HEAD",
  "an unpin",
  "the end of a canary",
] satisfies readonly (keyof typeof acts)[]);

type Card = readonly [string, ActOf];

/** Deals every act once before it deals one again, in an order that the seed decides. */
function dealer(random: () => number): () => Card {
  let left: readonly Card[] = [];
  return () => {
    if (left.length === 0) left = shuffled(Object.entries(acts), random);
    const [card, ...rest] = left;
    left = rest;
    if (card === undefined) throw new Error("there are no acts");
    return card;
  };
}

function shuffled<T>(list: readonly T[], random: () => number): readonly T[] {
  return list
    .map((value) => ({ value, place: random() }))
    .sort((a, b) => a.place - b.place)
    .map(({ value }) => value);
}

/** Nothing breaks what is not there yet. */
async function publishedOften({ acknowledged, deaths }: Publishers): Promise<void> {
  while (acknowledged.length < 12) {
    if (deaths.length > 0) throw new Error(deaths.join("\n"));
    await sleep(50);
  }
}

const node = { id: "sidecar~10.1.0.1~a.shop~shop.svc.cluster.local", cluster: "a.shop" };

/** An Envoy's polls: answered in time, and never with nothing. */
function poller(request: (path: string, init: RequestInit) => Response | Promise<Response>) {
  let [answered, refused, slowestMs] = [0, 0, 0];
  return {
    counts: () => ({ answered, refused, slowestMs: Math.round(slowestMs) }),
    /** @param mayRefuse whether something is damaged that is better not served */
    async ask(mayRefuse: boolean): Promise<readonly string[]> {
      const startMs = performance.now();
      const headers = { "content-type": "application/json" };
      const response = await request("/v3/discovery:clusters", {
        method: "POST",
        headers,
        body: pollBody("clusters", node),
      });
      const text = await response.text();
      const tookMs = performance.now() - startMs;
      slowestMs = Math.max(slowestMs, tookMs);
      const slow = tookMs > slowMs ? [`a poll took ${Math.round(tookMs)} ms`] : [];
      if (response.status === 503 && mayRefuse) {
        refused += 1;
        return slow;
      }
      answered += 1;
      if (response.status === 200 && text.includes('"outbound|80||')) return slow;
      return [...slow, `a poll was answered ${response.status} ${text.slice(0, 200)}`];
    },
  };
}
