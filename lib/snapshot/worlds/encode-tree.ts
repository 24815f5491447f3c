import { byCodePoint } from "../../config/diagnostic.ts";
import { type Blob, hashOf, jsonBlob } from "../blob.ts";
import type { CompiledList, CompiledPart, CompiledResource } from "../compiled.ts";
import { cutEvenly } from "../long/cut-evenly.ts";
import { encodeLong, hasRuns, originBlobs } from "../long/encode-long.ts";
import { splitBetween } from "../long/split-between.ts";
import { nameHash } from "../name-hash.ts";
import { versionOfParts } from "../parts-version.ts";
import { rememberEach } from "../remember-each.ts";
import { rememberRuns } from "../remember-runs.ts";
import type { Part, SegmentList } from "../root.ts";
import { secretNamesIn } from "../secret-names.ts";
import { blobsOfSegment, cutSegments, endsStretch, type Segment, segmentRef } from "../segment.ts";
import { type StoredForm, storedForm } from "../standing/stored-part.ts";

/** One type's answer for one class, as it is stored. */
export interface EncodedTree {
  /** Equal for trees of the same parts. */
  readonly key: string;
  /** Covers names and content of the resources, and nothing else. */
  readonly version: string;
  readonly runs: readonly EncodedRun[];
  readonly parts: readonly EncodedPart[];
  /** Names of the secrets that the resources name, sorted. */
  readonly secrets: readonly string[];
}

/** What classes share, as it is stored: as a rule a part of their lists. */
export interface EncodedRun {
  readonly resources: CompiledPart;
  readonly parts: readonly EncodedPart[];
  readonly secrets: readonly string[];
}

/** A run of segments, as it is stored. */
export interface EncodedPart {
  /** Hash of the list, or of the segment where there is but one. */
  readonly key: string;
  /** Hash of the names and versions of its resources. */
  readonly content: string;
  /** Its JSON in the type's table. */
  readonly text: string;
  /** The list's blob, where there is one. */
  readonly blob: Blob | undefined;
  readonly segments: readonly Segment[];
  /** Names of the secrets that its resources name, sorted. */
  readonly secrets: readonly string[];
}

/** Encodes resource lists; the same list, part, or run of the same resources, is encoded once. */
export type TreeEncoder = (list: CompiledList) => EncodedTree;

/**
 * Remembers by identity for as long as the lists and resources live; forgetting never changes a result. Nor do the parts of a
 * list: where its segments end follows from its resources, and parts that end elsewhere are joined before they are cut.
 */
export function createTreeEncoder(): TreeEncoder {
  const originsOf = rememberEach(originBlobs);
  const segmentOf = rememberRuns((resources: readonly CompiledResource[]): Segment => {
    const content = hashOf(resources.map(({ name, version }) => `${version} ${name}\n`).join(""));
    const [first] = resources;
    const { ref, lists } = hasRuns(first) ? encodeLong(first, originsOf) : { ref: segmentRef(resources), lists: [] };
    const blobs = blobsOfSegment({ ref, resources }, lists);
    return { ref, blobs, content, resources, secrets: secretNamesIn(resources) };
  });
  const partOf = rememberRuns(encodePart);
  const joined = rememberRuns((parts: readonly CompiledPart[]): CompiledPart => parts.flat());
  const runOf = rememberEach((resources: CompiledPart): EncodedRun => {
    const stored = storedForm(resources);
    const parts =
      stored === undefined ? cutParts(cutSegments(resources).map(segmentOf)).map(partOf) : [partInStore(stored)];
    return { resources, parts, secrets: sortedSet(parts.flatMap(({ secrets }) => secrets)) };
  });
  return rememberEach((list: CompiledList) =>
    treeOf(cutRuns(list).map((parts) => runOf(parts.length === 1 ? (parts[0] ?? []) : joined(parts)))),
  );
}

function treeOf(runs: readonly EncodedRun[]): EncodedTree {
  const parts = runs.flatMap((run) => run.parts);
  return {
    key: hashOf(parts.map(({ key }) => key).join()),
    version: versionOfParts(parts),
    runs,
    parts,
    secrets: sortedSet(runs.flatMap(({ secrets }) => secrets)),
  };
}

const sortedSet = (names: readonly string[]): readonly string[] =>
  names.length === 0 ? names : [...new Set(names)].sort(byCodePoint);

/** Parts of a list between which a part of the stored form would end anyway, whatever parts the list has. */
const cutRuns = (list: CompiledList): readonly (readonly CompiledPart[])[] => splitBetween(list, endsApart);

/** Whether a stretch ends between two neighbours, neither of which is empty. What lies in the store was cut before, and where it ends with it. */
function endsApart(part: CompiledPart, after: CompiledPart): boolean {
  if (storedForm(part) !== undefined || storedForm(after) !== undefined) return true;
  const [last, next] = [part.at(-1), after[0]];
  return last === undefined || next === undefined || endsStretch(last, next);
}

/** Nothing of it is to be written. */
const partInStore = ({ reference }: StoredForm): EncodedPart => ({ ...reference, blob: undefined, segments: [] });

function encodePart(segments: readonly Segment[]): EncodedPart {
  const [only, ...more] = segments;
  const secrets = sortedSet(segments.flatMap((segment) => segment.secrets));
  if (only !== undefined && more.length === 0) {
    const { ref, content } = only;
    const part: Part = { segment: ref, content };
    return { key: ref.hash, content, text: JSON.stringify(part), blob: undefined, segments, secrets };
  }
  const list: SegmentList = { segments: segments.map(({ ref }) => ref) };
  const blob = jsonBlob(list);
  const content = hashOf(segments.map((segment) => segment.content).join());
  const part: Part = { list: blob.hash, content };
  return { key: blob.hash, content, text: JSON.stringify(part), blob, segments, secrets };
}

/** About so many segments make a part. */
const segmentsPerPart = 16;

/** Cuts like `cutSegments`, by the names at the segments' ends. */
const cutParts = (segments: readonly Segment[]): readonly (readonly Segment[])[] =>
  splitBetween(segments, (segment, after) => endsApart(segment.resources, after.resources)).flatMap((stretch) =>
    cutEvenly(stretch, segmentsPerPart, byLastName),
  );

const byLastName = { weight: () => 1, hash: ({ ref }: Segment) => nameHash(`part ${ref.last}`) };
