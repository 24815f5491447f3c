import { jsonBlob, type LazyBlob, madeBlob } from "../blob.ts";
import type { BlobGroup } from "../blob-groups.ts";
import type { CompiledResource, TextRun } from "../compiled.ts";
import { nameHash } from "../name-hash.ts";
import { rememberEach } from "../remember-each.ts";
import { rememberRuns } from "../remember-runs.ts";
import type { ListOfLists, LongRef, OriginList, RunList, SegmentRef } from "../root.ts";
import { cutEvenly } from "./cut-evenly.ts";
import { fewOf } from "./few-of.ts";
import { longSegment } from "./listed-part.ts";

/** A resource that has runs. */
export type Long = CompiledResource & { readonly runs: readonly TextRun[] };

export const hasRuns = (resource: CompiledResource | undefined): resource is Long => resource?.runs !== undefined;

/** A long resource as it is stored: its blobs are those of the groups. */
export interface EncodedLong {
  readonly ref: SegmentRef;
  readonly groups: readonly StoredList[];
}

/** A list, with all that it names. Resources that have a list in common share it as an object. */
export interface StoredList extends BlobGroup {
  readonly hash: string;
}

/** Encodes the lists that a long resource names. */
export interface LongLists {
  readonly ofRuns: (runs: readonly TextRun[]) => StoredList;
  readonly ofLists: (lists: readonly StoredList[]) => StoredList;
  readonly ofOrigins: (from: readonly string[]) => readonly StoredList[];
}

export function encodeLong({ name, version, runs, from }: Long, encode: LongLists): EncodedLong {
  const lists = fewOf(cutEvenly<TextRun>(runs, runsPerList(runs.length), byHash).map(encode.ofRuns), {
    most: maxLists,
    perList: listsPerList,
    hashOf: ({ hash }) => hash,
    listOf: encode.ofLists,
  });
  const origins = encode.ofOrigins(from);
  const long: LongRef = {
    version,
    lists: lists.map(({ hash }) => hash),
    from: origins.map(({ hash }) => hash),
  };
  const bodyBytes = runs.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  return { ref: longSegment(name, bodyBytes, long), groups: [...lists, ...origins] };
}

/** So many lists of runs a resource names: of more it names lists of lists, most of which tables have in common. */
const maxLists = 8;

/** Few, so that few of them are a table's own. */
const listsPerList = 4;

function listOfLists(lists: readonly StoredList[]): StoredList {
  const list: ListOfLists = { lists: lists.map(({ hash }) => hash) };
  return storedList(list, [], lists);
}

/** @param blobs that it names, beside those of other lists */
function storedList(list: object, blobs: readonly LazyBlob[], groups: readonly StoredList[]): StoredList {
  const blob = jsonBlob(list);
  return { hash: blob.hash, blobs: [madeBlob(blob), ...blobs], groups };
}

/** So many that neither the lists nor their names are long: a power of two, which seldom becomes another. */
const runsPerList = (runs: number): number => 2 ** Math.floor(Math.log2(Math.sqrt(runs)));
const byHash = { weight: () => 1, hash: ({ cutHash }: TextRun) => cutHash };

/** The runs of a list, as they are named. All of a resource have a binary form, or none has. */
function runList(runs: readonly TextRun[]): StoredList {
  const binaries = runs.flatMap(({ binary }) => (binary === undefined ? [] : [binary.hash]));
  const list: RunList = { runs: runs.map(({ hash }) => hash), ...(binaries.length === 0 ? {} : { binaries }) };
  return storedList(list, runs.flatMap(runBlobs), []);
}

/** The objects that a long resource was made from, as they are stored: a table of all services names one list, as others do. */
function originLists(from: readonly string[]): readonly StoredList[] {
  const lists = cutEvenly(from, originsPerList, byName).map((list) =>
    storedList({ from: list } satisfies OriginList, [], []),
  );
  return lists.length <= 1 ? lists : [listOfLists(lists)];
}

/** In UTF-16 code units. */
const originsPerList = 16 * 1024;
const byName = { weight: (key: string) => key.length, hash: nameHash };

/** Remembers what it has encoded: tables of all namespaces share most runs, and their origins. */
export const createLongLists = (): LongLists => ({
  ofRuns: rememberRuns(runList),
  ofLists: rememberRuns(listOfLists),
  ofOrigins: rememberEach(originLists),
});

/** A run as it is stored. */
const runBlobs = ({ hash, text, binary }: TextRun): readonly LazyBlob[] => [
  { hash, make: () => new TextEncoder().encode(text) },
  ...(binary === undefined ? [] : [madeBlob(binary)]),
];
