import { causeText } from "../base/cause-text.ts";
import { PortolanError } from "../base/diagnostic.ts";
import { wholeNumberIn } from "../config/setting-values.ts";
import type { Trust } from "../snapshot/head/signatures.ts";
import { collectGarbage, type GcResult } from "../snapshot/upkeep/collect-garbage.ts";
import { collectables } from "../snapshot/upkeep/collectables.ts";
import type { ObjectStore } from "../storage/object-store.ts";
import { collectedSources } from "./shards/collect-sources.ts";
import type { Log } from "./telemetry/log.ts";

/** Publications that can be rolled back to, and how long an object that nothing names stays, as `portolan gc` has them. */
export const usualKeptPublications = 50;
const mostKeptPublications = 100_000;
export const gcGraceMs = 3_600_000;

/** What is collected, by schedule or by command. */
export const usualGc = { graceMs: gcGraceMs, others: [...collectables, collectedSources] };

/** Of a collection that found the ledger damaged, by schedule or by command. */
export const ledgerRenewed =
  "gc/ledger was empty or held something else, and was replaced: unused objects are listed in it again, and deleted an hour later at the earliest";

/**
 * How many publications a function's environment keeps.
 *
 * @param name of the setting, for messages
 * @throws PortolanError that says what it may be
 */
export const keptPublicationsIn = (name: string, text: string | undefined): number =>
  wholeNumberIn(name, text, { least: 1, most: mostKeptPublications, usual: usualKeptPublications });

export interface GarbageOptions {
  readonly store: ObjectStore;
  readonly keepPublications: number;
  readonly trust: Trust;
  readonly log: Log;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Ends deleting early; a later run deletes the rest. */
  readonly signal?: AbortSignal;
}

/** What one run did: `deleted` objects are gone, `doomed` ones are unused and go in a later run, `kept` blobs are in use. */
export type GarbageRun = Pick<GcResult, "done" | "deleted" | "doomed" | "kept">;

/**
 * One run of a schedule: it deletes what the run before found unused, and names what is unused now. The log says what it did.
 *
 * @throws whatever kept it from its work, which is in the log too
 */
export async function runGarbageCollection(options: GarbageOptions): Promise<GarbageRun> {
  const { store, keepPublications, trust, log, now, signal } = options;
  try {
    const { isLedgerRenewed, ...run } = await collectGarbage(store, {
      ...usualGc,
      keepPublications,
      now,
      ...(signal === undefined ? {} : { signal }),
      ...trust,
    });
    if (isLedgerRenewed === true) log.warn({}, ledgerRenewed);
    const { done, ...counts } = run;
    if (done) log.info(counts, "garbage collected");
    else log.info({}, "garbage was not collected: something else publishes or collects; the next run is at its time");
    return run;
  } catch (cause) {
    const stack = cause instanceof Error && !(cause instanceof PortolanError) ? { stack: cause.stack } : {};
    log.error({ reason: causeText(cause), ...stack }, "garbage cannot be collected; the next run is at its time");
    throw cause;
  }
}
