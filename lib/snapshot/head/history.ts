import { cutWords } from "../free-text.ts";
import type { Publication } from "../root.ts";
import type { SnapshotReader } from "../snapshot-reader.ts";

export interface HistoryEntry extends Publication {
  /** Blob of the publication. */
  readonly hash: string;
}

/**
 * The publications from a given one back to the first, newest first; it ends earlier where older ones were collected, or
 * one is damaged that `mendHistory` does not know.
 */
export async function* readHistory(reader: SnapshotReader, publication: string): AsyncGenerator<HistoryEntry> {
  for (let hash = publication; hash !== ""; ) {
    const text = await reader.textIfWhole(hash);
    if (text === undefined) return;
    const entry: Publication = JSON.parse(text);
    // Earlier versions wrote texts of any length.
    yield { ...cutWords(entry), hash };
    hash = entry.parent;
  }
}
