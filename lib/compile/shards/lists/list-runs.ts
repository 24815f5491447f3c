import { nameHash } from "../../../base/name-hash.ts";
import { jsonIn } from "../../../base/untyped.ts";
import { sha256 } from "../../../config/canonical-json.ts";
import { readEntries, type ShardEntry, storedEntry } from "./shard-list.ts";

/** Entries of a long list that stand next to each other, as they are stored: a file that changed writes its run, and not the list. */
export interface EntryRun {
  readonly entries: readonly ShardEntry[];
  readonly hash: string;
  readonly text: string;
}

/** So many entries are a long list; a shorter one is stored whole. */
const longFrom = 256;

/** A run ends behind every so-manieth name, and at the latest after so many entries. */
const usualLength = 96;
const maxLength = 4 * usualLength;

/**
 * The runs of a list, cut by the names in it, so that what comes or goes moves no border but those next to it.
 *
 * @param before runs that may be in it again
 * @returns none for a list that is stored whole
 */
export function runsOf(entries: readonly ShardEntry[], before: readonly EntryRun[]): readonly EntryRun[] {
  if (entries.length < longFrom || namesTwice(entries)) return [];
  const known = new Map(before.map((run) => [run.entries[0], run]));
  const runs: EntryRun[] = [];
  for (let from = 0; from < entries.length; ) {
    const there = known.get(entries[from]);
    const run = there !== undefined && standsAt(there, entries, from) ? there : runFrom(entries, from);
    runs.push(run);
    from += run.entries.length;
  }
  return runs;
}

/** Of a file that is named twice the last one counts, for which a reader has to look at them all. */
const namesTwice = (entries: readonly ShardEntry[]): boolean =>
  entries.some(({ file, applied }, at) => entries[at + 1]?.file === file && entries[at + 1]?.applied === applied);

/** Whether the list has the run at this place, and would end it where it ends. */
function standsAt({ entries: run }: EntryRun, entries: readonly ShardEntry[], from: number): boolean {
  const isLast = run.length < maxLength && !isBorder(run.at(-1));
  if (isLast && from + run.length !== entries.length) return false;
  return run.every((entry, at) => entry === entries[from + at]);
}

function runFrom(entries: readonly ShardEntry[], from: number): EntryRun {
  let end = from + 1;
  while (end < entries.length && end - from < maxLength && !isBorder(entries[end - 1])) end += 1;
  const run = entries.slice(from, end);
  const text = JSON.stringify(run.map(storedEntry));
  return { entries: run, text, hash: sha256(text) };
}

const isBorder = (entry: ShardEntry | undefined): boolean =>
  entry !== undefined && nameHash(entry.file) < 1 / usualLength;

/** @returns undefined for what is no run */
export const readRun = (text: string): readonly ShardEntry[] | undefined => readEntries(jsonIn(text));
