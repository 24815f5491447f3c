import { setTimeout as sleep } from "node:timers/promises";
import { causeText } from "../../base/cause-text.ts";
import { createEnvoyReports } from "./envoy-reports.ts";
import { createFrontHoldings, type FrontHoldingsOptions } from "./front-holdings.ts";
import { createLongPolls } from "./long-polls.ts";
import type { HeldType } from "./resources.ts";
import type { Source, SourceSink } from "./source.ts";

export interface FrontSourceOptions extends FrontHoldingsOptions {
  /** How long the front may hold a request. */
  readonly holdMs: number;
}

/** Pauses between attempts grow from the first to the last, each up to half longer by chance. */
const firstPauseMs = 250;
const lastPauseMs = 10_000;

/** A front that holds no request is polled once in this time. */
const leastPollMs = 1_000;

/** Changes of several types that are published together are fetched together. */
const gatherMs = 2;

/**
 * Follows a front: fetches every type at once, then keeps one long poll for each. When one of them fails, all types are fetched again, so
 * that the sink gets what happened meanwhile as a whole.
 */
export function frontSource(options: FrontSourceOptions): Source {
  const { client, holdMs, types } = options;
  const closing = new AbortController();
  const holdings = createFrontHoldings(options);
  const reports = createEnvoyReports(holdings.versionOf);
  const polls = createLongPolls();
  /** Fetches what has changed together with something else. */
  let gathering: Promise<unknown> | undefined;

  const fetchNow = (type: HeldType, signal: AbortSignal) =>
    holdings.fetch(type, { holdMs: 0, signal, report: reports.of(type) });

  /** Every type, without waiting for anything new. */
  async function fetchAll(sink: SourceSink): Promise<void> {
    const fetchEach = () => Promise.all(types.map((type) => fetchNow(type, closing.signal)));
    await fetchEach();
    // HEAD may have moved on between the answers and its own.
    await holdings.publish(sink).catch(fetchEach);
    await holdings.publish(sink);
  }

  /**
   * Fetches what has changed together with a type. A route may lead to a cluster that is new with it, and a removed cluster may have been
   * the target of a route until now: so none of these is published before the others were fetched. Endpoints are independent.
   */
  async function gather(type: HeldType, signal: AbortSignal): Promise<void> {
    await sleep(gatherMs, undefined, { signal });
    if (type === "endpoints" || type === "name_tables") return;
    const others = types.filter((other) => other !== type);
    gathering ??= Promise.all(others.map((other) => fetchNow(other, signal))).finally(() => {
      gathering = undefined;
    });
    await gathering;
  }

  /** Polls one type until something fails. @throws what it failed with */
  async function follow(type: HeldType, sink: SourceSink, signal: AbortSignal): Promise<never> {
    for (;;) {
      signal.throwIfAborted();
      // Between two requests there is none that closing could end.
      closing.signal.throwIfAborted();
      const startMs = performance.now();
      const report = reports.of(type);
      const isNew = await polls.run(type, (signal) => holdings.fetch(type, { holdMs, signal, report }));
      if (isNew === true) {
        await gather(type, signal);
        await holdings.publish(sink).catch(() => fetchAll(sink));
        await reports.untilAnswered(type, AbortSignal.any([signal, closing.signal]));
      } else if (report === reports.of(type) && performance.now() - startMs < leastPollMs)
        await sleep(leastPollMs, undefined, { signal });
    }
  }

  /** Keeps a poll for every type until one of them fails. @throws what it failed with */
  async function followAll(sink: SourceSink): Promise<never> {
    const round = new AbortController();
    try {
      return await Promise.race(types.map((type) => follow(type, sink, round.signal)));
    } finally {
      round.abort();
      polls.endAll();
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
        holdings.dropUnpublished();
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
    rejects(type, complaint) {
      if (reports.refuse(type, complaint)) polls.replace(type);
    },
    accepts(type, version) {
      if (reports.accept(type, version)) polls.replace(type);
    },
    close() {
      closing.abort();
      polls.endAll();
      client.close();
    },
  };
}
