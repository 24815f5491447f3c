import { runGarbageCollection, usualKeptPublications } from "../../compile/garbage.ts";
import type { Log } from "../../compile/telemetry/log.ts";
import { defaultPace, type Pace } from "../../registry/origin/retry.ts";
import type { Settings } from "../../settings/schema.ts";
import type { Trust } from "../../snapshot/head/signatures.ts";
import type { ObjectStore } from "../../storage/object-store.ts";

const usualEveryMinutes = 60;

/** How long after the start the first run is, at most: a process that is started again and again collects too. */
const firstMs = 5 * 60_000;

export interface ScheduledGcOptions {
  readonly store: ObjectStore;
  readonly settings: Pick<Settings, "gc">;
  readonly trust: Trust;
  readonly log: Log;
  readonly signal: AbortSignal;
  readonly pace?: Pick<Pace, "pause">;
  /** Milliseconds since the epoch; the system's clock when absent. */
  readonly now?: () => number;
}

/**
 * Collects garbage by a schedule, until the signal says stop: one run names what nothing leads to any more, a later one deletes it. A run
 * that fails is logged, and the next one is at its time.
 */
export async function runScheduledGc(options: ScheduledGcOptions): Promise<void> {
  const { store, settings, trust, log, signal, pace = defaultPace, now = Date.now } = options;
  const { everyMinutes = usualEveryMinutes, keepPublications = usualKeptPublications } = settings.gc ?? {};
  if (everyMinutes === 0) return;
  const everyMs = everyMinutes * 60_000;
  await pace.pause(Math.min(firstMs, everyMs), signal);
  while (!signal.aborted) {
    // Why a run failed is in the log.
    await runGarbageCollection({ store, keepPublications, trust, log, now, signal }).catch(() => {});
    await pace.pause(everyMs, signal);
  }
}
