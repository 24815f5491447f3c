import { inParallel } from "../../storage/in-parallel.ts";
import { type EntryRun, readRun } from "./list-runs.ts";
import { readList, type ShardList } from "./shard-list.ts";

/** A list with the runs that its entries lie in; none where it has them itself. */
export interface OpenList {
  readonly list: ShardList;
  readonly runs: readonly EntryRun[];
}

/**
 * What a list says, wherever its entries lie.
 *
 * @param textOf what lies under a hash in the source; undefined where it is not what was written
 * @returns undefined for what is no list, and for one that lacks a run
 */
export async function openList(
  text: string,
  textOf: (hash: string) => Promise<string | undefined>,
): Promise<OpenList | undefined> {
  const stored = readList(text);
  if (stored === undefined) return undefined;
  if ("files" in stored) return { list: stored, runs: [] };
  const { runs: hashes, ...head } = stored;
  const found = await inParallel(hashes, async (hash): Promise<EntryRun | undefined> => {
    const run = await textOf(hash);
    const entries = run === undefined ? undefined : readRun(run);
    return run === undefined || entries === undefined ? undefined : { entries, hash, text: run };
  });
  const runs = found.filter((run) => run !== undefined);
  if (runs.length < found.length) return undefined;
  return { list: { ...head, files: runs.flatMap(({ entries }) => entries) }, runs };
}
