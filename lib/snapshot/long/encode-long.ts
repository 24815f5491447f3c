import { type Blob, hashOf, jsonBlob, type LazyBlob } from "../blob.ts";
import type { CompiledResource, TextRun } from "../compiled.ts";
import { nameHash } from "../name-hash.ts";
import { rememberEach } from "../remember-each.ts";
import { rememberRuns } from "../remember-runs.ts";
import type { ListOfLists, LongRef, OriginList, RunList, SegmentRef } from "../root.ts";
import { cutEvenly } from "./cut-evenly.ts";

/** A resource that has runs. */
export type Long = CompiledResource & { readonly runs: readonly TextRun[] };

export const hasRuns = (resource: CompiledResource | undefined): resource is Long => resource?.runs !== undefined;

/** A long resource as it is stored, but for its runs. */
export interface EncodedLong {
  readonly ref: SegmentRef;
  /** Lists that name the runs, and those of its origins. */
  readonly lists: readonly Blob[];
}

/** Lists as they are stored. */
interface NamedLists {
  /** All of them. */
  readonly blobs: readonly Blob[];
  /** The hashes of those that are named by no other. */
  readonly names: readonly string[];
}

/** Encodes the lists that a long resource names. */
export interface LongLists {
  readonly ofRuns: (runs: readonly TextRun[]) => Blob;
  readonly ofLists: (lists: readonly Blob[]) => Blob;
  readonly ofOrigins: (from: readonly string[]) => NamedLists;
}

export function encodeLong({ name, version, runs, from }: Long, encode: LongLists): EncodedLong {
  const lists = listed(cutEvenly<TextRun>(runs, runsPerList(runs.length), byHash).map(encode.ofRuns), encode);
  const origins = encode.ofOrigins(from);
  const long: LongRef = { version, lists: lists.names, from: origins.names };
  const bodyBytes = runs.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  const hash = hashOf(JSON.stringify([name, long]));
  const ref = { hash, first: name, last: name, resources: 1, bodyOffset: 0, bodyBytes, long };
  return { ref, lists: [...lists.blobs, ...origins.blobs] };
}

/** So many lists of runs a resource names: of more it names lists of lists, most of which tables have in common. */
const maxLists = 8;

/** Few, so that few of them are a table's own. */
const listsPerList = 4;

function listed(lists: readonly Blob[], encode: LongLists): NamedLists {
  if (lists.length <= maxLists) return named(lists);
  const above = listed(cutEvenly<Blob>(lists, listsPerList, byHash).map(encode.ofLists), encode);
  return { ...above, blobs: [...lists, ...above.blobs] };
}

const named = (blobs: readonly Blob[]): NamedLists => ({ blobs, names: blobs.map(({ hash }) => hash) });

const listOfLists = (lists: readonly Blob[]): Blob =>
  jsonBlob({ lists: lists.map(({ hash }) => hash) } satisfies ListOfLists);

/** So many that neither the lists nor their names are long: a power of two, which seldom becomes another. */
const runsPerList = (runs: number): number => 2 ** Math.floor(Math.log2(Math.sqrt(runs)));
const byHash = { weight: () => 1, hash: ({ hash }: { readonly hash: string }) => nameHash(hash) };

/** The runs of a list, as they are named. All of a resource have a binary form, or none has. */
function runList(runs: readonly TextRun[]): Blob {
  const binaries = runs.flatMap(({ binary }) => (binary === undefined ? [] : [binary.hash]));
  const list: RunList = { runs: runs.map(({ hash }) => hash), ...(binaries.length === 0 ? {} : { binaries }) };
  return jsonBlob(list);
}

/** The objects that a long resource was made from, as they are stored: a table of all services names one list, as others do. */
function originLists(from: readonly string[]): NamedLists {
  const lists = cutEvenly(from, originsPerList, byName).map((list) => jsonBlob({ from: list } satisfies OriginList));
  if (lists.length <= 1) return named(lists);
  const above = named([listOfLists(lists)]);
  return { ...above, blobs: [...lists, ...above.blobs] };
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

/** The runs as they are stored. */
export const runBlobs = (runs: readonly TextRun[]): readonly LazyBlob[] =>
  runs.flatMap(({ hash, text, binary }) => [
    { hash, make: () => new TextEncoder().encode(text) },
    ...(binary === undefined ? [] : [{ hash: binary.hash, make: () => binary.bytes }]),
  ]);
