import { setTimeout as sleep } from "node:timers/promises";
import { PortolanError } from "../../config/diagnostic.ts";
import type { EnvoyAdmin } from "./envoy-admin.ts";
import type { EnvoyLog } from "./envoy-log.ts";

/** An Envoy that reads the agent's files, as far as it can be asked what it has taken. */
export interface ReadingEnvoy {
  readonly pid: number;
  /** Whether it has read files before this agent began to look. */
  readonly isAdopted: boolean;
  readonly admin: EnvoyAdmin;
  readonly log: EnvoyLog;
  isRunning(): boolean;
}

/** Since when refusals are counted. */
export interface Moment {
  readonly pid: number;
  /** Of its log. */
  readonly mark: number;
  /** What each subscription had refused by then. */
  readonly refused: ReadonlyMap<string, number>;
}

/** What an Envoy has made of files since a moment. */
export interface Heard {
  /** Versions that are not in force. */
  readonly missing: ReadonlySet<string>;
  /** Subscriptions that have refused something, each as often as it has. */
  readonly refusing: readonly string[];
  /** Its words for that, in order. */
  readonly words: readonly string[];
}

export interface Patience {
  readonly timeoutMs: number;
  /** Whose refusals count; everybody's where nothing is said. */
  readonly isAbout?: (subscription: string) => boolean;
}

const warmMs = 5_000;

/** The moment in which an Envoy was started. */
export const startOf = ({ pid }: ReadingEnvoy): Moment => ({ pid, mark: 0, refused: new Map() });

/** Moments to count from. */
export interface Moments {
  /** @throws PortolanError when the Envoy does not answer */
  now(envoy: ReadingEnvoy): Promise<Moment>;
  /** Everything has been heard of: the next moment is as good as this one, and need not be asked for then. */
  rest(envoy: ReadingEnvoy): Promise<void>;
}

export function createMoments(): Moments {
  let rested: Moment | undefined;
  return {
    async now(envoy) {
      const known = rested?.pid === envoy.pid ? rested : undefined;
      rested = undefined;
      const moment = known ?? (await momentOf(envoy));
      if (moment === undefined) throw noAnswer();
      return moment;
    },
    async rest(envoy) {
      rested = await momentOf(envoy);
    },
  };
}

/** @returns undefined when the Envoy does not answer */
async function momentOf({ admin, log, pid }: ReadingEnvoy): Promise<Moment | undefined> {
  const refused = await admin.refused();
  await log.read();
  return refused && { pid, mark: log.mark(), refused };
}

/**
 * Waits until an Envoy has taken files of some versions, or refused as many.
 *
 * @returns what is known then; a version that is missing while nothing was refused was not read in time
 * @throws PortolanError when the Envoy is gone, or does not answer
 */
export async function untilTaken(
  envoy: ReadingEnvoy,
  versions: readonly string[],
  since: Moment,
  { timeoutMs, isAbout = () => true }: Patience,
): Promise<Heard> {
  const { admin, log } = envoy;
  const untilMs = performance.now() + timeoutMs;
  for (let pauseMs = 1; ; pauseMs = Math.min(2 * pauseMs, 40)) {
    await sleep(pauseMs);
    const taken = await admin.versions();
    const missing = new Set(versions.filter((version) => taken?.has(version) !== true));
    const refused = missing.size === 0 ? since.refused : await admin.refused();
    const isLate = performance.now() > untilMs;
    if (taken === undefined || refused === undefined) {
      if (isLate || !envoy.isRunning()) throw noAnswer();
      continue;
    }
    const refusing = [...refused].flatMap(([subscription, count]) =>
      isAbout(subscription) ? new Array<string>(countSince(since, subscription, count)).fill(subscription) : [],
    );
    if (refusing.length < missing.size && !isLate) continue;
    // Envoy says why before it counts.
    await log.read();
    return { missing, refusing, words: log.refusalsSince(since.mark) };
  }
}

/** A subscription that is gone and back again counts from nothing. */
function countSince({ refused }: Moment, subscription: string, now: number): number {
  const before = refused.get(subscription) ?? 0;
  return now < before ? now : now - before;
}

const noAnswer = () => new PortolanError("Envoy went away, or does not answer, while it was given something new");

/** New clusters take traffic when they have their endpoints and certificates. */
export async function untilWarm({ admin, isRunning }: ReadingEnvoy): Promise<void> {
  const untilMs = performance.now() + warmMs;
  while (isRunning() && performance.now() < untilMs) {
    if ((await admin.gauge("cluster_manager.warming_clusters")) === 0) return;
    await sleep(20);
  }
}
