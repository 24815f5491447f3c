import { configurationIn, type HistoryEntry } from "./history.ts";

/**
 * The entries that led everybody to another configuration, newest first, without those that a rollback left: what was rolled back from is
 * nothing to go back to. A rollback goes on from the entry that it says it leads back to.
 *
 * @param history newest first, as `readChanges` gives it
 */
export async function* wayBack(history: AsyncIterable<HistoryEntry>): AsyncGenerator<HistoryEntry> {
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
