import { setTimeout as sleep } from "node:timers/promises";
import { causeText } from "../../base/cause-text.ts";
import { createTreeEncoder } from "../../snapshot/worlds/encode-tree.ts";
import { type Complaint, fetchDelta } from "./delta-fetch.ts";
import type { FrontClient } from "./front-client.ts";
import type { AgentNode } from "./node.ts";
import { type HeldType, type Holding, type Holdings, isWhole, versionsIn, type WholeHoldings } from "./resources.ts";
import type { Source, SourceSink } from "./source.ts";

export interface FrontSourceOptions {
  readonly client: FrontClient;
  readonly node: AgentNode;
  /** How long the front may hold a request. */
  readonly holdMs: number;
  readonly types: readonly HeldType[];
  /** Looks whether what was fetched is what a signed HEAD leads to. @throws PortolanError when it is not */
  readonly verify?: ((holdings: WholeHoldings) => Promise<void>) | undefined;
}

/** Pauses between attempts grow from the first to the last, each up to half longer by chance. */
const firstPauseMs = 250;
const lastPauseMs = 10_000;

/** How long the next request waits for Envoy to accept or refuse the last answer, so that one request carries both. */
const wordMs = 1_000;

/** Why a request is given up whose words are not true any more. */
const overtaken = "a newer request replaces this one";

/** Changes of several types that are published together are told together. */
const gatherMs = 2;

/**
 * Follows a front: asks for every type at once, then holds one request for each. When one of them fails, all types are asked for
 * again, so that what happened meanwhile is told as a whole.
 */
export function frontSource(options: FrontSourceOptions): Source {
  const { client, node, holdMs, types, verify = async () => {} } = options;
  const closing = new AbortController();
  const encodeTree = createTreeEncoder();
  const complaints = new Map<HeldType, Complaint>();
  const accepted = new Map<HeldType, string>();
  /** Who waits for Envoy's word about a type. */
  const awaiting = new Map<HeldType, () => void>();
  /** Requests that are held, by type. */
  const held = new Map<HeldType, AbortController>();
  let holdings: Holdings = {};
  /** Asks for what has changed together with something else. */
  let gathering: Promise<unknown> | undefined;
  /** Told to the sink, by version. */
  let told = "";

  const fetch = (type: HeldType, holdFor: number, signal: AbortSignal) =>
    fetchDelta(client, {
      type,
      node,
      before: holdings[type],
      holdMs: holdFor,
      complaint: complaints.get(type),
      accepted: accepted.get(type),
      encodeTree,
      signal,
    });

  function keep(type: HeldType, holding: Holding | undefined): void {
    if (holding !== undefined) holdings = { ...holdings, [type]: holding };
  }

  async function tell(sink: SourceSink): Promise<void> {
    const all = holdings;
    if (!isWhole(all, types) || versionsIn(all, types) === told) return;
    await verify(all);
    if (holdings !== all) return;
    told = versionsIn(all, types);
    sink.changed(all);
  }

  /** Every type, without waiting for anything new. */
  async function fetchAll(sink: SourceSink): Promise<void> {
    const fetchEach = () => Promise.all(types.map(async (type) => keep(type, await fetch(type, 0, closing.signal))));
    await fetchEach();
    // HEAD may have moved on between the answers and itself.
    await tell(sink).catch(fetchEach);
    await tell(sink);
  }

  /**
   * Waits for what has changed together with a type. A route may lead to a cluster that is new with it, and a cluster that is gone may have
   * been led to until now: so of these none is told before the others were asked for. Endpoints stand by themselves.
   */
  async function gather(type: HeldType, signal: AbortSignal): Promise<void> {
    await sleep(gatherMs, undefined, { signal });
    if (type === "endpoints" || type === "name_tables") return;
    const others = types.filter((other) => other !== type);
    gathering ??= Promise.all(others.map(async (other) => keep(other, await fetch(other, 0, signal)))).finally(() => {
      gathering = undefined;
    });
    await gathering;
  }

  /** Whether Envoy has said that it takes, or does not take, what there is of a type. */
  function isAnswered(type: HeldType): boolean {
    const version = holdings[type]?.version;
    const word = accepted.get(type);
    return word === undefined || word === version || complaints.get(type)?.version === version;
  }

  async function untilAnswered(type: HeldType, signal: AbortSignal): Promise<void> {
    if (isAnswered(type)) return;
    const waiting = new AbortController();
    awaiting.set(type, () => waiting.abort());
    await sleep(wordMs, undefined, { signal: AbortSignal.any([signal, waiting.signal, closing.signal]) }).catch(
      () => {},
    );
    awaiting.delete(type);
  }

  /** What is said of a type is other than before: a request that is held says it no more, and no two say different things at a time. */
  function sayAgain(type: HeldType): void {
    if (isAnswered(type)) awaiting.get(type)?.();
    held.get(type)?.abort(overtaken);
  }

  /** Asks for a type and waits for something new. @returns undefined when there is nothing, or something else is to be said first */
  async function hold(type: HeldType): Promise<Holding | undefined> {
    const asking = new AbortController();
    held.set(type, asking);
    try {
      return await fetch(type, holdMs, asking.signal);
    } catch (cause) {
      if (asking.signal.reason !== overtaken) throw cause;
      return undefined;
    } finally {
      if (held.get(type) === asking) held.delete(type);
    }
  }

  /** Holds a request for every type until one of them fails. @throws what it failed with */
  async function followAll(sink: SourceSink): Promise<never> {
    const round = new AbortController();
    const { signal } = round;
    const follow = async (type: HeldType): Promise<never> => {
      for (;;) {
        signal.throwIfAborted();
        // Between two requests there is none that closing could end.
        closing.signal.throwIfAborted();
        const before = performance.now();
        const complaint = complaints.get(type);
        const word = accepted.get(type);
        const next = await hold(type);
        if (next !== undefined) {
          keep(type, next);
          await gather(type, signal);
          await tell(sink).catch(() => fetchAll(sink));
          await untilAnswered(type, signal);
        } else if (
          complaint === complaints.get(type) &&
          word === accepted.get(type) &&
          performance.now() - before < 1_000
        ) {
          // A front that holds nothing is asked once a second.
          await sleep(1_000, undefined, { signal });
        }
      }
    };
    try {
      return await Promise.race(types.map(follow));
    } finally {
      round.abort();
      for (const asking of held.values()) asking.abort();
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
        if (!isWhole(holdings, types) || versionsIn(holdings, types) !== told) holdings = {};
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
      const before = complaints.get(type);
      if (JSON.stringify(before) === JSON.stringify(complaint)) return;
      if (complaint === undefined) complaints.delete(type);
      else complaints.set(type, complaint);
      sayAgain(type);
    },
    accepts(type, version) {
      if (accepted.get(type) === version) return;
      accepted.set(type, version);
      sayAgain(type);
    },
    close() {
      closing.abort();
      for (const asking of held.values()) asking.abort();
      client.close();
    },
  };
}
