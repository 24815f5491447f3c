import { collectedSources } from "../../compile/shards/collect-sources.ts";
import type { Log } from "../../compile/telemetry/log.ts";
import { causeText } from "../../config/cause-text.ts";
import { PortolanError } from "../../config/diagnostic.ts";
import { defaultPace, type Pace } from "../../registry/retry.ts";
import type { Settings } from "../../settings/schema.ts";
import type { Trust } from "../../snapshot/head/signatures.ts";
import { collectGarbage } from "../../snapshot/upkeep/collect-garbage.ts";
import { collectables } from "../../snapshot/upkeep/collectables.ts";
import type { ObjectStore } from "../../storage/object-store.ts";

/** Publications that can be rolled back to, and how long an object that nothing names stays, as `portolan gc` has them. */
export const usualKeptPublications = 50;
export const gcGraceMs = 3_600_000;

/** Of a collection that found the ledger damaged, by schedule or by command. */
export const ledgerRenewed =
  "gc/ledger was empty or held something else, and was replaced: unused objects are listed in it again, and deleted an hour later at the earliest";

/** What is collected, by schedule or by command. */
export const usualGc = { graceMs: gcGraceMs, others: [...collectables, collectedSources] };

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
    try {
      const { done, isLedgerRenewed, ...counts } = await collectGarbage(store, {
        ...usualGc,
        keepPublications,
        now,
        signal,
        ...trust,
      });
      if (isLedgerRenewed === true) log.warn({}, ledgerRenewed);
      if (done) log.info(counts, "garbage collected");
      else log.info({}, "garbage was not collected: something else publishes or collects; the next run is at its time");
    } catch (cause) {
      const stack = cause instanceof Error && !(cause instanceof PortolanError) ? { stack: cause.stack } : {};
      log.error({ reason: causeText(cause), ...stack }, "garbage cannot be collected; the next run is at its time");
    }
    await pace.pause(everyMs, signal);
  }
}
