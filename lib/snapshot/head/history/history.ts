import { cutWords } from "../../free-text.ts";
import type { SnapshotReader } from "../../reader/snapshot-reader.ts";
import type { Head, Publication } from "../../root.ts";

export interface HistoryEntry extends Publication {
  /** Blob of the publication. */
  readonly hash: string;
}

/**
 * The publications from a given one back to the first, newest first. Where entries in between were collected it goes on with the newest
 * earlier one that brought a configuration; it ends where that was collected too, or an entry is damaged that `mendHistory` does not know.
 */
export async function* readHistory(reader: SnapshotReader, publication: string): AsyncGenerator<HistoryEntry> {
  let changed: string | undefined;
  for (let hash = publication; hash !== ""; ) {
    const entry = (await readEntry(reader, hash)) ?? (await readEntry(reader, changed));
    if (entry === undefined) return;
    yield entry;
    hash = entry.parent;
    ({ changed } = entry);
  }
}

/** The same up to the first entry that is not there. */
export async function* readUnbroken(reader: SnapshotReader, publication: string): AsyncGenerator<HistoryEntry> {
  for (let hash = publication; hash !== ""; ) {
    const entry = await readEntry(reader, hash);
    if (entry === undefined) return;
    yield entry;
    hash = entry.parent;
  }
}

/**
 * The publications that brought a configuration, newest first: reading them costs as many reads, however often endpoints have changed in
 * between. Before the release that tells configuration from endpoints, all publications.
 */
export async function* readChanges(
  reader: SnapshotReader,
  { change, publication }: Pick<Head, "change" | "publication">,
): AsyncGenerator<HistoryEntry> {
  for (let hash = change?.publication ?? publication; hash !== ""; ) {
    const entry = await readEntry(reader, hash);
    if (entry === undefined) return;
    yield entry;
    hash = entry.changed ?? entry.parent;
  }
}

/** Whether an entry led all nodes somewhere: what is held is served to none, and a canary to some. */
export const isServedToAll = ({ held, canary }: Publication): boolean => held !== true && canary === undefined;

/** The publication that led to a root, the newest of several; undefined where none of the newest so many did. */
export async function publicationOf(
  reader: SnapshotReader,
  publication: string,
  served: string,
  maxEntries = 1_000,
): Promise<HistoryEntry | undefined> {
  let looked = 0;
  for await (const entry of readHistory(reader, publication)) {
    if (entry.root === served && isServedToAll(entry)) return entry;
    looked += 1;
    if (looked === maxEntries) return undefined;
  }
  return undefined;
}

/** The configuration of an entry, named as in `ConfigurationChange`. */
export const configurationIn = ({ configuration, root }: Publication): string => configuration ?? root;

async function readEntry(reader: SnapshotReader, hash: string | undefined): Promise<HistoryEntry | undefined> {
  const text = hash === undefined ? undefined : await reader.textIfWhole(hash);
  if (text === undefined || hash === undefined) return undefined;
  const entry: Publication = JSON.parse(text);
  // Earlier versions wrote texts of any length.
  return { ...cutWords(entry), hash };
}
