import { inParallel } from "../../storage/in-parallel.ts";
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

/**
 * What a list says, wherever its entries lie; of one that lacks a run what is left.
 *
 * @param textOf what lies under a hash in the source; undefined where it is not what was written
 * @returns undefined for what is no list
 */
export async function openList(
  text: string,
  textOf: (hash: string) => Promise<string | undefined>,
): Promise<OpenList | undefined> {
  const stored = readList(text);
  if (stored === undefined) return undefined;
  if ("files" in stored) return { list: stored, runs: [], lost: undefined };
  const { runs: hashes, applied, ...head } = stored;
  const found = await inParallel(hashes, async (hash): Promise<EntryRun | undefined> => {
    const run = await textOf(hash);
    const entries = run === undefined ? undefined : readRun(run);
    return run === undefined || entries === undefined ? undefined : { entries, hash, text: run };
  });
  const runs = found.filter((run) => run !== undefined);
  const files = runs.flatMap(({ entries }) => entries);
  const lost = runs.length < found.length ? { applied: applied - appliedIn(files) } : undefined;
  return { list: { ...head, files }, runs, lost };
}
