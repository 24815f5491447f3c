import { configurationIn, type HistoryEntry } from "./history.ts";

/**
 * The entries that led everybody to another configuration, newest first, without those that a rollback left: what was rolled back from is
 * nothing to go back to. Its reason was `rollback`, and it goes on from the latest entry before it that had led to its configuration.
 *
 * @param history newest first, as `readChanges` gives it
 */
export async function* wayBack(history: AsyncIterable<HistoryEntry>): AsyncGenerator<HistoryEntry> {
  /** Configurations of rollbacks whose origins are still to come, the nearest last: what comes before the nearest was left. */
  const origins: string[] = [];
  let later: string | undefined;
  for await (const entry of history) {
    const { held, reason, back } = entry;
    const configuration = configurationIn(entry);
    // Recorded only.
    if (held === true) continue;
    const isOnWay = origins.length === 0;
    if (reason === "rollback") {
      const origin = back ?? configuration;
      if (origins.at(-1) !== origin) origins.push(origin);
    } else if (origins.at(-1) === configuration) origins.pop();
    // A move that led nobody anywhere else is none.
    if (!isOnWay || configuration === later) continue;
    later = configuration;
    yield entry;
  }
}
