import { byCodePoint } from "../../../base/diagnostic.ts";
import { type Fields, isFields, jsonIn } from "../../../base/untyped.ts";
import { isSha256 } from "../../../config/canonical-json.ts";

/** What a source consists of: names and hashes of texts. */
export interface ShardList extends ListHead {
  readonly files: readonly ShardEntry[];
}

/** A list as it is stored: a long one names the texts of the runs that its entries lie in. */
export type StoredList = ListHead & ({ readonly files: readonly ShardEntry[] } | InRuns);

interface InRuns {
  readonly runs: readonly string[];
  /** How many of the entries were applied: whether one was in a run that is lost can be told. */
  readonly applied: number;
}

/** What a list says beside its entries. */
interface ListHead {
  /** Whether what was applied is told from a folder's files; lists of earlier versions do not. */
  readonly hasParts: boolean;
  readonly kept: readonly KeptEntry[];
  /** Somebody has said that the source may hold nothing. */
  readonly isMeantEmpty: boolean;
  /** Which folder is followed, where one is. */
  readonly origin?: string | undefined;
}

export interface ShardEntry {
  readonly file: string;
  readonly hash: string;
  /** Written by `apply`, object by object; the others are a folder's. */
  readonly applied: boolean;
  readonly halfSaved: boolean;
  /** Why the file could not be read; the text is the one before. */
  readonly problem?: string;
}

/** The text in which an object was last valid. */
export interface KeptEntry {
  readonly key: string;
  readonly file: string;
  readonly hash: string;
}

/** A list in the order in which it is stored, whatever order it was made in. */
export const listInOrder = ({ files, ...list }: Omit<ShardList, "hasParts">): ShardList => ({
  ...list,
  hasParts: true,
  files: isInOrder(files) ? files : files.toSorted(byPlace),
});

const byPlace = (a: ShardEntry, b: ShardEntry): number =>
  Number(a.applied) - Number(b.applied) || byCodePoint(a.file, b.file);

/** Nearly always it is: a loop says so in less time than sorting takes. */
function isInOrder(files: readonly ShardEntry[]): boolean {
  let last = files[0];
  for (const entry of files) {
    if (last !== undefined && byPlace(last, entry) > 0) return false;
    last = entry;
  }
  return true;
}

/** A list as it is stored. What is not so is not mentioned. @param runs that its entries lie in; none where it has them itself */
export function listText(
  { files, kept, isMeantEmpty, origin }: ShardList,
  runs: readonly { readonly hash: string }[],
): string {
  return JSON.stringify({
    hasParts: true,
    ...(runs.length === 0 ? { files: files.map(storedEntry) } : storedRuns(files, runs)),
    ...(kept.length === 0 ? {} : { kept: kept.map(({ key, file, hash }) => ({ key, file, hash })) }),
    ...(isMeantEmpty ? { empty: true } : {}),
    ...(origin === undefined ? {} : { origin }),
  });
}

function storedRuns(files: readonly ShardEntry[], runs: readonly { readonly hash: string }[]): Partial<InRuns> {
  const applied = appliedIn(files);
  return { runs: runs.map(({ hash }) => hash), ...(applied === 0 ? {} : { applied }) };
}

/** How many entries were applied. */
export const appliedIn = (files: readonly ShardEntry[]): number => files.filter(({ applied }) => applied).length;

export const storedEntry = ({ file, hash, applied, halfSaved, problem }: ShardEntry): Partial<ShardEntry> => ({
  file,
  hash,
  ...(applied ? { applied } : {}),
  ...(halfSaved ? { halfSaved } : {}),
  ...(problem === undefined ? {} : { problem }),
});

/** @returns undefined for what is no such list */
export function readList(text: string): StoredList | undefined {
  const json = jsonIn(text);
  if (!isFields(json)) return undefined;
  const kept = entriesOf(json.kept ?? [], readKept);
  const named = readNamed(json);
  if (named === undefined || kept === undefined) return undefined;
  const { hasParts, empty, origin } = json;
  const followed = typeof origin === "string" ? { origin } : {};
  return { hasParts: hasParts === true, ...named, kept, isMeantEmpty: empty === true, ...followed };
}

function readNamed({
  files,
  runs,
  applied = 0,
}: Fields): { readonly files: readonly ShardEntry[] } | InRuns | undefined {
  if (runs !== undefined) {
    const isRight = Array.isArray(runs) && runs.every(isSha256) && typeof applied === "number" && areDistinct(runs);
    return isRight ? { runs, applied } : undefined;
  }
  const entries = readEntries(files);
  return entries && { files: entries };
}

/** A writer names no run twice: a few that are named over and over would stand for any number of files. */
const areDistinct = (runs: readonly string[]): boolean => new Set(runs).size === runs.length;

export const readEntries = (value: unknown): readonly ShardEntry[] | undefined => entriesOf(value, readEntry);

function entriesOf<T>(value: unknown, read: (value: unknown) => T | undefined): readonly T[] | undefined {
  if (!Array.isArray(value)) return undefined;
  const entries = value.map(read).filter((entry) => entry !== undefined);
  return entries.length === value.length ? entries : undefined;
}

function readEntry(value: unknown): ShardEntry | undefined {
  if (!isFields(value) || typeof value.file !== "string" || !isSha256(value.hash)) return undefined;
  const { file, hash, applied, halfSaved, problem } = value;
  return {
    file,
    hash,
    applied: applied === true,
    halfSaved: halfSaved === true,
    ...(typeof problem === "string" ? { problem } : {}),
  };
}

function readKept(value: unknown): KeptEntry | undefined {
  if (!isFields(value) || typeof value.key !== "string") return undefined;
  const { key, file, hash } = value;
  return typeof file === "string" && isSha256(hash) ? { key, file, hash } : undefined;
}
