import { configurationIn, type HistoryEntry } from "./history.ts";

/**
 * The entries that served another configuration to all nodes, newest first: the possible rollback targets. Entries that a rollback left are
 * skipped; after a rollback the walk continues at the entry that it returned to.
 *
 * @param history newest first, as `readChanges` gives it
 */
export async function* rollbackHistory(history: AsyncIterable<HistoryEntry>): AsyncGenerator<HistoryEntry> {
  /** What rollbacks lead back to that are still to come, the nearest last: what comes before the nearest was left. */
  const origins: string[] = [];
  let later: string | undefined;
  for await (const entry of history) {
    const { hash, held, reason, back } = entry;
    const configuration = configurationIn(entry);
    // Recorded only.
    if (held === true) continue;
    const isOnWay = origins.length === 0;
    const origin = origins.at(-1);
    if (origin === hash || origin === configuration) origins.pop();
    if (reason === "rollback") origins.push(back ?? configuration);
    // A move that led nobody anywhere else is none.
    if (!isOnWay || configuration === later) continue;
    later = configuration;
    yield entry;
  }
}
