import { type Blob, hashOf, jsonBlob, type LazyBlob } from "../blob.ts";
import type { CompiledResource, TextRun } from "../compiled.ts";
import { nameHash } from "../name-hash.ts";
import type { LongRef, OriginList, RunList, SegmentRef } from "../root.ts";
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

/** @param encodeOrigins may remember lists that it has encoded: tables of all namespaces have one */
export function encodeLong(
  { name, version, runs, from }: Long,
  encodeOrigins: (from: readonly string[]) => readonly Blob[] = originBlobs,
): EncodedLong {
  const hasBinary = runs.every(({ binary }) => binary !== undefined);
  const lists = cutEvenly(runs, runsPerList(runs.length), byHash).map((list) => {
    const binaries = list.flatMap(({ binary }) => (binary === undefined ? [] : [binary.hash]));
    const runList: RunList = { runs: list.map(({ hash }) => hash), ...(hasBinary ? { binaries } : {}) };
    return jsonBlob(runList);
  });
  const origins = encodeOrigins(from);
  const long: LongRef = {
    version,
    lists: lists.map(({ hash }) => hash),
    from: origins.map(({ hash }) => hash),
  };
  const bodyBytes = runs.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  const hash = hashOf(JSON.stringify([name, long]));
  const ref = { hash, first: name, last: name, resources: 1, bodyOffset: 0, bodyBytes, long };
  return { ref, lists: [...lists, ...origins] };
}

/** So many that neither the lists nor their names are long: a power of two, which seldom becomes another. */
const runsPerList = (runs: number): number => 2 ** Math.floor(Math.log2(Math.sqrt(runs)));
const byHash = { weight: () => 1, hash: ({ hash }: TextRun) => nameHash(hash) };

/** The objects that a long resource was made from, as they are stored. */
export const originBlobs = (from: readonly string[]): readonly Blob[] =>
  cutEvenly(from, originsPerList, byName).map((list) => jsonBlob({ from: list } satisfies OriginList));

/** In UTF-16 code units. */
const originsPerList = 16 * 1024;
const byName = { weight: (key: string) => key.length, hash: nameHash };

/** The runs as they are stored. */
export const runBlobs = (runs: readonly TextRun[]): readonly LazyBlob[] =>
  runs.flatMap(({ hash, text, binary }) => [
    { hash, make: () => new TextEncoder().encode(text) },
    ...(binary === undefined ? [] : [{ hash: binary.hash, make: () => binary.bytes }]),
  ]);
