import { jsonBlob, type LazyBlob, madeBlob } from "../../base/blob.ts";
import { cutEvenly } from "../../base/cut-evenly.ts";
import { nameHash } from "../../base/name-hash.ts";
import type { BlobGroup } from "../blob-groups.ts";
import type { TextChunk, TextChunkList } from "../compiled.ts";
import { memoizeChunks } from "../memoize/memoize-chunks.ts";
import { memoizeEach } from "../memoize/memoize-each.ts";
import type { ListOfLists, LongRef, OriginList, RunList, SegmentRef } from "../root.ts";
import { mostVariants } from "./chunk-lists.ts";
import { fewOf } from "./few-of.ts";
import { longSegment } from "./listed-part.ts";
import type { Long } from "./long-resource.ts";

/** A long resource as it is stored: its blobs are those of the groups. */
export interface EncodedLong {
  readonly ref: SegmentRef;
  readonly groups: readonly StoredList[];
}

/** A list, with all that it names. Resources that have a list in common share it as an object. */
export interface StoredList extends BlobGroup {
  readonly hash: string;
  /** Of the hash, from 0 to 1: where a list of lists ends follows from it. */
  readonly cutHash: number;
}

/** Encodes the lists that a long resource names. */
export interface LongLists {
  readonly ofRuns: (list: TextChunkList) => StoredList;
  readonly ofLists: (lists: readonly StoredList[]) => StoredList;
  readonly ofOrigins: (from: readonly string[]) => readonly StoredList[];
}

export function encodeLong({ name, version, runLists, from }: Long, encode: LongLists): EncodedLong {
  const lists = fewOf(runLists.map(encode.ofRuns), {
    most: maxLists,
    perList: listsPerList,
    cutHashOf: ({ cutHash }) => cutHash,
    listOf: encode.ofLists,
  });
  const origins = encode.ofOrigins(from);
  const long: LongRef = {
    version,
    lists: lists.map(({ hash }) => hash),
    from: origins.map(({ hash }) => hash),
  };
  const bodyBytes = runLists.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
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
  return { hash: blob.hash, cutHash: nameHash(blob.hash), blobs: [madeBlob(blob), ...blobs], groups };
}

/** The runs of a list, as they are named. All of a resource have a binary form, or none has. */
function runList({ runs }: TextChunkList): StoredList {
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
  ofRuns: memoizeEach(runList),
  ofLists: memoizeChunks(listOfLists, mostVariants),
  ofOrigins: memoizeEach(originLists),
});

/** A run as it is stored. */
const runBlobs = ({ hash, text, binary }: TextChunk): readonly LazyBlob[] => [
  { hash, make: () => new TextEncoder().encode(text) },
  ...(binary === undefined ? [] : [madeBlob(binary)]),
];
