import { sameValue } from "../changes/same.ts";
import { createBell, defaultPace, type Pace } from "../origin/retry.ts";
import type { Source, SourceEvent, SourceSnapshot } from "../source.ts";
import type { ConsulClient } from "./agent.ts";
import type { ConsulInstance } from "./catalog.ts";
import { followConsul } from "./follow.ts";
import { type ConsulHealth, type ReadBefore, readConsul, reasonOf } from "./snapshot.ts";

export interface ConsulSourceOptions {
  readonly health: ConsulHealth;
  readonly pace?: Pace;
  /** How long one blocking query may wait; 5 minutes when absent, 10 at most. */
  readonly waitMs?: number;
  /** How long another catalogue than before must stay as it is to be believed after a break; 10 s when absent. */
  readonly settleMs?: number;
}

type ConsulSnapshot = SourceSnapshot<readonly ConsulInstance[]>;

/** How often a catalogue may turn out to have changed again after a break, before it is taken as it is. */
const mostRounds = 12;

async function* watchAll(
  client: ConsulClient,
  { health, pace = defaultPace, waitMs = 300_000, settleMs = 10_000 }: ConsulSourceOptions,
  signal: AbortSignal,
): AsyncGenerator<SourceEvent<readonly ConsulInstance[]>> {
  const bell = createBell();
  const before: ReadBefore = new Map();
  const left = new AbortController();
  const until = AbortSignal.any([signal, left.signal]);
  until.addEventListener("abort", bell.ring);
  const failing = new Map<string, string>();
  let isYoung = false;
  // Checks wake the second only, and instances of a service without any check the first.
  const paths = ["/v1/catalog/services", ...(health === "passing" ? ["/v1/health/state/any"] : [])];
  const following = paths.map((path) =>
    followConsul(client, path, { pace, waitMs }, until, {
      changed() {
        failing.delete(path);
        bell.ring();
      },
      startedOver() {
        isYoung = true;
      },
      failed(reason) {
        isYoung = true;
        failing.set(path, reason);
        bell.ring();
      },
    }),
  );

  let last: readonly ConsulInstance[] | undefined;
  /** Agents register again with a server that has lost everything, one after another. */
  async function readSettled(): Promise<ConsulSnapshot> {
    let snapshot = await readConsul(client, health, until, before);
    const isDoubtful = () => isYoung && last !== undefined && !sameValue(last, snapshot.content);
    for (let round = 0; isDoubtful() && round < mostRounds; round += 1) {
      isYoung = false;
      await pace.pause(settleMs, until);
      const again = await readConsul(client, health, until, before);
      isYoung ||= !sameValue(snapshot.content, again.content);
      snapshot = again;
    }
    isYoung = false;
    return snapshot;
  }

  let isFailing = false;
  let failures = 0;
  try {
    for (;;) {
      await bell.next();
      if (until.aborted) return;
      const [failure] = failing.values();
      const event = failure === undefined ? await readSettled().catch(failureOf) : { failure };
      if (until.aborted) return;
      if ("failure" in event) {
        isFailing = true;
        yield event;
        // Who follows tries again by himself, and rings.
        if (failure !== undefined) continue;
        failures += 1;
        await pace.pause(pace.backOff(failures), until);
        bell.ring();
        continue;
      }
      failures = 0;
      if (!isFailing && last !== undefined && sameValue(last, event.content)) continue;
      isFailing = false;
      last = event.content;
      yield event;
    }
  } finally {
    left.abort();
    await Promise.all(following);
  }
}

const failureOf = (cause: unknown): { readonly failure: string } => ({ failure: reasonOf(cause) });

/**
 * The instances of a Consul datacentre: of all services, Consul's own included. Its watch gives the content again when it can be
 * read again after a failure, be it the same.
 *
 * @see docs/how-istio-does-it/consul.md#blocking-queries
 */
export function consulSource(client: ConsulClient, options: ConsulSourceOptions): Source<readonly ConsulInstance[]> {
  return {
    snapshot: (signal) => readConsul(client, options.health, signal ?? new AbortController().signal),
    watch: (signal) => watchAll(client, options, signal),
  };
}
