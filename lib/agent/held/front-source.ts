import { setTimeout as sleep } from "node:timers/promises";
import { causeText } from "../../config/cause-text.ts";
import { type CoreType, coreTypes } from "../../snapshot/resource-type.ts";
import { createTreeEncoder } from "../../snapshot/worlds/encode-tree.ts";
import { type Complaint, fetchDelta } from "./delta-fetch.ts";
import type { FrontClient } from "./front-client.ts";
import { type Holding, type Holdings, isWhole } from "./holding.ts";
import type { AgentNode } from "./node.ts";
import type { Source, SourceSink } from "./source.ts";

export interface FrontSourceOptions {
  readonly client: FrontClient;
  readonly node: AgentNode;
  /** How long the front may hold a request. */
  readonly holdMs: number;
  /** Looks whether what was fetched is what a signed HEAD leads to. @throws PortolanError when it is not */
  readonly verify?: ((holdings: Required<Holdings>) => Promise<void>) | undefined;
}

/** Pauses between attempts grow from the first to the last, each up to half longer by chance. */
const firstPauseMs = 250;
const lastPauseMs = 10_000;

/** Changes of several types that are published together are told together. */
const gatherMs = 2;

/**
 * Follows a front: asks for every type at once, then holds one request for each. When one of them fails, all types are asked for
 * again, so that what happened meanwhile is told as a whole.
 */
export function frontSource({ client, node, holdMs, verify = async () => {} }: FrontSourceOptions): Source {
  const closing = new AbortController();
  const encodeTree = createTreeEncoder();
  const complaints = new Map<CoreType, Complaint>();
  let holdings: Holdings = {};
  /** Told to the sink, by version. */
  let told = "";

  const fetch = (type: CoreType, holdFor: number, signal: AbortSignal) =>
    fetchDelta(client, {
      type,
      node,
      before: holdings[type],
      holdMs: holdFor,
      complaint: complaints.get(type),
      encodeTree,
      signal,
    });

  function keep(type: CoreType, holding: Holding | undefined): void {
    if (holding !== undefined) holdings = { ...holdings, [type]: holding };
  }

  async function tell(sink: SourceSink): Promise<void> {
    const all = holdings;
    if (!isWhole(all) || versionsOf(all) === told) return;
    await verify(all);
    if (holdings !== all) return;
    told = versionsOf(all);
    sink.changed(all);
  }

  /** Every type, without waiting for anything new. */
  async function fetchAll(sink: SourceSink): Promise<void> {
    const fetchEach = () =>
      Promise.all(coreTypes.map(async (type) => keep(type, await fetch(type, 0, closing.signal))));
    await fetchEach();
    // HEAD may have moved on between the answers and itself.
    await tell(sink).catch(fetchEach);
    await tell(sink);
  }

  /** Holds a request for every type until one of them fails. @throws what it failed with */
  async function followAll(sink: SourceSink): Promise<never> {
    const round = new AbortController();
    const signal = AbortSignal.any([closing.signal, round.signal]);
    const follow = async (type: CoreType): Promise<never> => {
      for (;;) {
        const before = performance.now();
        const next = await fetch(type, holdMs, signal);
        if (next !== undefined) {
          keep(type, next);
          await sleep(gatherMs, undefined, { signal });
          await tell(sink).catch(() => fetchAll(sink));
        } else if (performance.now() - before < 1_000) {
          // A front that holds nothing is asked once a second.
          await sleep(1_000, undefined, { signal });
        }
      }
    };
    try {
      return await Promise.race(coreTypes.map(follow));
    } finally {
      round.abort();
    }
  }

  async function run(sink: SourceSink): Promise<void> {
    let pauseMs = firstPauseMs;
    while (!closing.signal.aborted) {
      try {
        await fetchAll(sink);
        sink.reached();
        pauseMs = firstPauseMs;
        await followAll(sink);
      } catch (cause) {
        if (closing.signal.aborted) return;
        // Texts that did not come to their version, or were not vouched for, are asked for from the beginning.
        if (!isWhole(holdings) || versionsOf(holdings) !== told) holdings = {};
        sink.trouble(causeText(cause));
        await sleep(pauseMs * (1 + Math.random() / 2), undefined, { signal: closing.signal }).catch(() => {});
        pauseMs = Math.min(2 * pauseMs, lastPauseMs);
      }
    }
  }

  return {
    start(sink) {
      run(sink).catch((cause: unknown) => sink.trouble(String(cause)));
    },
    complain(type, complaint) {
      if (complaint === undefined && !complaints.delete(type)) return;
      if (complaint !== undefined) complaints.set(type, complaint);
      // The request that is held does not say it yet. If this one fails, the next says it.
      fetch(type, 0, closing.signal).catch(() => {});
    },
    close() {
      closing.abort();
      client.close();
    },
  };
}

const versionsOf = (holdings: Required<Holdings>): string => coreTypes.map((type) => holdings[type].version).join();
