import { type Blob, hashOf, jsonBlob, type LazyBlob, madeBlob } from "../../base/blob.ts";
import { cutEvenly } from "../../base/cut-evenly.ts";
import { byCodePoint } from "../../base/diagnostic.ts";
import { nameHash } from "../../base/name-hash.ts";
import { changedIndexes } from "../../incremental/list-delta.ts";
import type { BlobGroup } from "../blob-groups.ts";
import type { CompiledList, CompiledPart, CompiledResource } from "../compiled.ts";
import { createLongLists, encodeLong } from "../long/encode-long.ts";
import { contentOf, type LongPart, longPart } from "../long/listed-part.ts";
import { hasChunks } from "../long/long-resource.ts";
import { recut } from "../long/recut.ts";
import { splitBetween } from "../long/split-between.ts";
import { memoizeChunks } from "../memoize/memoize-chunks.ts";
import { memoizeEach } from "../memoize/memoize-each.ts";
import { versionOfParts } from "../parts-version.ts";
import { type StoredForm, storedForm } from "../reuse/stored-part.ts";
import type { Part, SegmentList } from "../root.ts";
import { createSecretNames } from "../secret-names.ts";
import { cutSegments, encodeSegment, endsStretch, type Segment } from "../segment.ts";

/** One type's answer for one class, as it is stored. */
export interface EncodedTree {
  readonly runs: readonly EncodedRun[];
  /** Names of the secrets that the resources name, sorted. */
  readonly secrets: readonly string[];
}

/** Covers names and content of the resources, and nothing else. */
export const versionOfTree = ({ runs }: EncodedTree): string => versionOfParts(runs.flatMap(({ parts }) => parts));

/** What classes share, as it is stored: as a rule a part of their lists. */
export interface EncodedRun {
  readonly resources: CompiledPart;
  readonly parts: readonly EncodedPart[];
  readonly secrets: readonly string[];
}

/** A run of segments, as it is stored; its blobs are theirs, and its list's where there is one. */
export interface EncodedPart extends BlobGroup {
  /** Hash of the list, or of the segment where there is but one. */
  readonly key: string;
  /** Hash of the names and versions of its resources. */
  readonly content: string;
  /** Its JSON. */
  readonly text: string;
  /** Of the text: says where a list of parts ends. */
  readonly textHash: number;
  /** Undefined for one that is not one long resource. */
  readonly long: LongPart | undefined;
  readonly segments: readonly Segment[];
  /** Names of the secrets that its resources name, sorted. */
  readonly secrets: readonly string[];
}

/**
 * Encodes resource lists; the same list, part, or run of the same resources, is encoded once.
 *
 * @param tell handed the texts' blobs of segments that are new, which were made anyway
 */
export type TreeEncoder = (list: CompiledList, tell?: (blob: Blob) => void) => EncodedTree;

/**
 * Remembers by identity for as long as the lists and resources live; forgetting never changes a result. Nor do the parts of a
 * list: where its segments end follows from its resources, and parts that end elsewhere are joined before they are cut.
 */
export function createTreeEncoder(): TreeEncoder {
  const longLists = createLongLists();
  const secretNamesIn = createSecretNames();
  /** Of the list at hand. */
  let tell: ((blob: Blob) => void) | undefined;
  const segmentOf = memoizeChunks((resources: readonly CompiledResource[]): Segment => {
    const content = contentOf(resources);
    const [first] = resources;
    const { ref, blobs, groups } = hasChunks(first)
      ? { ...encodeLong(first, longLists), blobs: noBlobs }
      : { ...encodeSegment(resources, tell), groups: noGroups };
    return { ref, blobs, groups, content, resources, secrets: secretNamesIn(resources) };
  });
  const partOf = memoizeChunks(encodePart);
  const joined = memoizeChunks((parts: readonly CompiledPart[]): CompiledPart => parts.flat());
  /** What was made last of resources that begin or end with one, as long as those are in use. */
  const lastWith = new WeakMap<CompiledResource, WeakRef<EncodedRun>>();
  const endsOf = (resources: CompiledPart): readonly CompiledResource[] =>
    [resources[0], resources.at(-1)].filter((end) => end !== undefined);
  const partsOf = (resources: CompiledPart): readonly EncodedPart[] => {
    // Many begin alike: the longer ones have more in common.
    const [before] = endsOf(resources)
      .flatMap((end) => lastWith.get(end)?.deref() ?? [])
      .sort((a, b) => b.parts.length - a.parts.length);
    const inParts = before?.parts.map((part) => part.segments) ?? [];
    const segmentsBefore = inParts.flat();
    const others = changedIndexes(before?.resources ?? [], resources);
    const runs = recut(
      segmentsBefore.map((segment) => segment.resources),
      resources,
      cutSegments,
      others,
    );
    const segments = runs.map(segmentOf);
    return recut(inParts, segments, cutParts, changedIndexes(segmentsBefore, segments)).map(partOf);
  };
  const runOf = memoizeEach((resources: CompiledPart): EncodedRun => {
    const stored = storedForm(resources);
    const parts = stored === undefined ? partsOf(resources) : [partInStore(stored)];
    const run = { resources, parts, secrets: uniteNames(parts.map(({ secrets }) => secrets)) };
    if (stored === undefined) for (const end of endsOf(resources)) lastWith.set(end, new WeakRef(run));
    return run;
  });
  const treeOf = memoizeEach((list: CompiledList) => {
    const runs = cutRuns(list).map((parts) => runOf(parts.length === 1 ? (parts[0] ?? []) : joined(parts)));
    return { runs, secrets: uniteNames(runs.map(({ secrets }) => secrets)) };
  });
  return (list, toTell) => {
    tell = toTell;
    return treeOf(list);
  };
}

const noNames: readonly string[] = [];

/** Names of lists, sorted, each once. Most resources name no secret. */
export function uniteNames(lists: readonly (readonly string[])[]): readonly string[] {
  const some = lists.filter(({ length }) => length > 0);
  return some.length === 0 ? noNames : [...new Set(some.flat())].sort(byCodePoint);
}

/** Parts of a list between which a part of the stored form would end anyway, whatever parts the list has. */
const cutRuns = (list: CompiledList): readonly (readonly CompiledPart[])[] => splitBetween(list, endsApart);

/** Whether a stretch ends between two neighbours, neither of which is empty. What lies in the store was cut before, and where it ends with it. */
function endsApart(part: CompiledPart, after: CompiledPart): boolean {
  if (storedForm(part) !== undefined || storedForm(after) !== undefined) return true;
  const [last, next] = [part.at(-1), after[0]];
  return last === undefined || next === undefined || endsStretch(last, next);
}

/** Whether what stands before and after two parts is cut from the one as it is from the other. */
export function endAlike(a: CompiledPart, b: CompiledPart): boolean {
  if (storedForm(a) !== undefined || storedForm(b) !== undefined) return false;
  const isAlike = (one: CompiledResource | undefined, other: CompiledResource | undefined): boolean =>
    one === other ||
    (one?.name === other?.name &&
      hasChunks(one) === hasChunks(other) &&
      (hasChunks(one) || one?.text.length === other?.text.length));
  return isAlike(a[0], b[0]) && isAlike(a.at(-1), b.at(-1));
}

/** Nothing of it is to be written. */
const partInStore = ({ reference }: StoredForm): EncodedPart =>
  newPart({
    ...reference,
    long: longPart(JSON.parse(reference.text)),
    blobs: [],
    groups: noGroups,
    segments: [],
  });

function encodePart(segments: readonly Segment[]): EncodedPart {
  const [only, ...more] = segments;
  const secrets = uniteNames(segments.map((segment) => segment.secrets));
  if (only !== undefined && more.length === 0) {
    const { ref, content, blobs, groups } = only;
    const part: Part = { segment: ref, content };
    const text = JSON.stringify(part);
    return newPart({ key: ref.hash, content, text, long: longPart(part), blobs, groups, segments, secrets });
  }
  const list: SegmentList = { segments: segments.map(({ ref }) => ref) };
  const blob = jsonBlob(list);
  const content = hashOf(segments.map((segment) => segment.content).join());
  const part: Part = { list: blob.hash, content };
  const text = JSON.stringify(part);
  const blobs = [madeBlob(blob), ...segments.flatMap((segment) => segment.blobs)];
  // A long resource is a part by itself.
  return newPart({ key: blob.hash, content, text, long: undefined, blobs, groups: noGroups, segments, secrets });
}

const noGroups: readonly BlobGroup[] = [];
const noBlobs: readonly LazyBlob[] = [];

const newPart = (part: Omit<EncodedPart, "textHash">): EncodedPart => ({ ...part, textHash: nameHash(part.text) });

/** About so many segments make a part. */
const segmentsPerPart = 16;

/** Cuts like `cutSegments`, by the names at the segments' ends. */
const cutParts = (segments: readonly Segment[]): readonly (readonly Segment[])[] =>
  splitBetween(segments, (segment, after) => endsApart(segment.resources, after.resources)).flatMap((stretch) =>
    cutEvenly(stretch, segmentsPerPart, byLastName),
  );

const byLastName = { weight: () => 1, hash: ({ ref }: Segment) => nameHash(ref.last, "part ") };
