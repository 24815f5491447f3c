import { inParallel } from "../../../storage/in-parallel.ts";
import { type EntryRun, readRun } from "./list-runs.ts";
import { appliedIn, readList, type ShardList } from "./shard-list.ts";

/** A list with the runs that its entries lie in; none where it has them itself. */
export interface OpenList {
  readonly list: ShardList;
  readonly runs: readonly EntryRun[];
  /** Undefined where it has all that it names. */
  readonly lost: LostEntries | undefined;
}

/** What lay in runs that are not there any more, or are not what was written. */
export interface LostEntries {
  /** How many of them were applied. */
  readonly applied: number;
}

/** What lies under a hash in a source; undefined where it is not what was written. */
type TextOf = (hash: string) => Promise<string | undefined>;

/** A run of a list. @returns undefined for one that is not there any more, or is none */
export async function openRun(hash: string, textOf: TextOf): Promise<EntryRun | undefined> {
  const text = await textOf(hash);
  const entries = text === undefined ? undefined : readRun(text);
  return text === undefined || entries === undefined ? undefined : { entries, hash, text };
}

/**
 * What a list says, wherever its entries lie; of one that lacks a run what is left.
 *
 * @returns undefined for what is no list
 */
export async function openList(text: string, textOf: TextOf): Promise<OpenList | undefined> {
  const stored = readList(text);
  if (stored === undefined) return undefined;
  if ("files" in stored) return { list: stored, runs: [], lost: undefined };
  const { runs: hashes, applied, ...head } = stored;
  const found = await inParallel(hashes, (hash) => openRun(hash, textOf));
  const runs = found.filter((run) => run !== undefined);
  const files = runs.flatMap(({ entries }) => entries);
  const lost = runs.length < found.length ? { applied: applied - appliedIn(files) } : undefined;
  return { list: { ...head, files }, runs, lost };
}
