import type { HistoryEntry } from "./history.ts";

/**
 * The entries that led everybody to another root, newest first, without those that a rollback left: what was rolled back from is
 * nothing to go back to. Its reason was `rollback`, and it goes on from the latest entry before it that had led to its root.
 *
 * @param history newest first, as `readHistory` gives it
 */
export async function* wayBack(history: AsyncIterable<HistoryEntry>): AsyncGenerator<HistoryEntry> {
  /** Roots of rollbacks whose origins are still to come, the nearest last: what comes before the nearest was left. */
  const origins: string[] = [];
  let later: string | undefined;
  for await (const entry of history) {
    const { root, held, reason } = entry;
    // Recorded only.
    if (held === true) continue;
    const isOnWay = origins.length === 0;
    if (reason === "rollback") {
      if (origins.at(-1) !== root) origins.push(root);
    } else if (origins.at(-1) === root) origins.pop();
    // A move that led nobody anywhere else is none.
    if (!isOnWay || root === later) continue;
    later = root;
    yield entry;
  }
}
