import { inParallel } from "../../storage/in-parallel.ts";
import type { LoadedTable } from "../reader/loaded.ts";
import type { SnapshotReader } from "../reader/snapshot-reader.ts";
import { resourceTypes } from "../resource-type.ts";
import type { Root, SegmentRef } from "../root.ts";

/** Fewer blobs than that are read as quickly one by one. */
const minBlobs = 4;
/** After so many a pack may end. */
const fewBlobs = 8;
/** Of segments, which have about 16 KiB, half a MiB. */
const maxBlobs = 32;

/** A pack that is to be. */
export interface PlannedPack {
  /** Of its blobs, in order. */
  readonly hashes: readonly string[];
  /** A reader of it reads the next one, too. */
  readonly leadsOn: boolean;
}

/**
 * Which blobs of a root are to lie in one pack: such as are read together. A pack ends after a blob whose hash says so, so a change of
 * one blob leaves the packs before and behind it as they were.
 *
 * @returns packs of which no two have a blob in common
 */
export async function planPacks(
  reader: Pick<SnapshotReader, "table" | "tableBlobs" | "long">,
  root: Root,
): Promise<readonly PlannedPack[]> {
  const groups = (await Promise.all(resourceTypes.map((type) => groupsOf(reader, root, type)))).flat();
  const seen = new Set<string>();
  return groups.flatMap((group) => {
    const left = group.filter((hash) => !seen.has(hash));
    for (const hash of left) seen.add(hash);
    const packs = [...cut(left)];
    return packs.map((hashes, at) => ({ hashes, leadsOn: at < packs.length - 1 }));
  });
}

/** The lists of a type's table, and the segments of parts that the same answers have: their texts for polls, their binary forms for streams. */
async function groupsOf(
  reader: Pick<SnapshotReader, "table" | "tableBlobs" | "long">,
  root: Root,
  type: (typeof resourceTypes)[number],
): Promise<readonly (readonly string[])[]> {
  const [lists, { parts, trees }] = await Promise.all([reader.tableBlobs(root, type), reader.table(root, type)]);
  const segmentLists = parts.flatMap(({ ref }) => ("list" in ref ? [ref.list] : []));
  const together = Map.groupBy(parts.keys(), usersIn(trees));
  const ofParts = [...together.values()].flatMap((places) =>
    segmentGroups(places.flatMap((place) => parts[place]?.segments ?? [])),
  );
  const longs = parts.flatMap(({ segments }) => segments.flatMap(({ long }) => long ?? []));
  const ofLongs = await inParallel(longs, async (long) => {
    const runs = await reader.long.runs(long);
    return [runs.map(({ text }) => text), runs.flatMap(({ binary }) => binary ?? [])];
  });
  return [[...lists, ...segmentLists], ...ofParts, ...ofLongs.flat()];
}

/** @returns names the answers that have a part, by its place */
function usersIn(trees: LoadedTable["trees"]): (part: number) => string {
  const users = new Map<number, string>();
  for (const [tree, parts] of trees.entries())
    for (const part of parts) users.set(part, `${users.get(part) ?? ""} ${tree}`);
  return (part) => users.get(part) ?? "";
}

const segmentGroups = (segments: readonly SegmentRef[]): readonly (readonly string[])[] => [
  segments.flatMap(({ hash, long }) => (long === undefined ? [hash] : [])),
  segments.flatMap(({ binary }) => (binary === undefined ? [] : [binary.hash])),
];

/** What is left at the end is too little for a pack. */
function* cut(blobs: readonly string[]): Generator<readonly string[]> {
  let pack: string[] = [];
  for (const hash of blobs) {
    pack.push(hash);
    if (pack.length < fewBlobs || (pack.length < maxBlobs && !endsPack(hash))) continue;
    yield pack;
    pack = [];
  }
  if (pack.length >= minBlobs) yield pack;
}

/** One blob in sixteen. */
const endsPack = (hash: string): boolean => hash.startsWith("0");
