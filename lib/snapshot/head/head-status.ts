import type { SnapshotReader } from "../reader/snapshot-reader.ts";
import type { Canary, Head, Pin, RolloutStage } from "../root.ts";
import { lastRoot, newestRoot, pinAt, rootAt, servedConfiguration, stagesFrom } from "./head.ts";
import { configurationIn, type HistoryEntry, readChanges } from "./history/history.ts";

/** What HEAD does at a time, for people. */
export interface HeadStatus {
  readonly generation: number;
  /** The root in force. */
  readonly served: string;
  /** Steps that are still to come. */
  readonly steps: readonly RolloutStage[];
  /** Root of the newest publish; that which the steps lead to unless something is pinned. */
  readonly newest: string;
  readonly pin: Pin | undefined;
  /** A pin whose time is over, until the next compile or `unpin` leads on to the newest. */
  readonly expired: Pin | undefined;
  readonly canary: Canary | undefined;
  /** The publication that led to the configuration that is served; undefined where the history was collected. */
  readonly since: HistoryEntry | undefined;
  /** Configuration that was recorded since then and is not served, newest first. */
  readonly held: readonly HistoryEntry[];
}

/** @param maxEntries how far the history is looked back on */
export async function statusOf(
  reader: SnapshotReader,
  head: Head,
  nowMs: number,
  maxEntries = 1_000,
): Promise<HeadStatus> {
  const everybody = lastRoot(head.steps);
  const configuration = servedConfiguration(head);
  const held: HistoryEntry[] = [];
  const seen: HistoryEntry[] = [];
  let since: HistoryEntry | undefined;
  let looked = 0;
  for await (const entry of readChanges(reader, head)) {
    looked += 1;
    if (looked > maxEntries || (entry.held !== true && configurationIn(entry) !== configuration)) break;
    seen.push(...recordedIn(entry));
    if (entry.held === true) continue;
    since = entry;
    held.push(...seen.splice(0));
  }
  const pin = pinAt(head, nowMs);
  return {
    generation: head.generation,
    served: rootAt(head, nowMs),
    steps: stagesFrom(head.steps, nowMs).slice(1),
    newest: newestRoot(head),
    pin,
    expired: pin === undefined && newestRoot(head) !== everybody ? head.pin : undefined,
    canary: head.canary,
    since,
    held,
  };
}

/** What an entry records and serves to nobody, as an entry of its own. */
function recordedIn({ recorded, ...entry }: HistoryEntry): readonly HistoryEntry[] {
  if (entry.held === true) return [entry];
  return recorded === undefined ? [] : [{ ...entry, root: recorded, held: true }];
}
