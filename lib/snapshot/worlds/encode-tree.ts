import { byCodePoint } from "../../config/diagnostic.ts";
import { type Blob, hashOf, jsonBlob } from "../blob.ts";
import type { CompiledResource } from "../compiled.ts";
import type { Part, SegmentList } from "../root.ts";
import { secretNamesIn } from "../secret-names.ts";
import { cutSegments, encodeSegment, isOfWorkload, nameHash, type Segment } from "../segment.ts";

/** One type's answer for one class, as it is stored. */
export interface EncodedTree {
  /** Equal for trees of the same parts. */
  readonly key: string;
  /** Covers names and content of the resources, and nothing else. */
  readonly version: string;
  readonly parts: readonly EncodedPart[];
  readonly resources: readonly CompiledResource[];
  /** Names of the secrets that they name, sorted. */
  readonly secrets: readonly string[];
}

/** A run of segments, as it is stored. */
export interface EncodedPart {
  /** Hash of the list, or of the segment where there is but one. */
  readonly key: string;
  readonly ref: Part;
  /** The list's blob, where there is one. */
  readonly blob: Blob | undefined;
  readonly segments: readonly Segment[];
}

/** Encodes resource lists; the same list, or a run of the same resources, is encoded once. */
export type TreeEncoder = (resources: readonly CompiledResource[]) => EncodedTree;

/** Remembers by identity for as long as the lists and resources live; forgetting never changes a result. */
export function createTreeEncoder(): TreeEncoder {
  const trees = new WeakMap<readonly CompiledResource[], EncodedTree>();
  const segmentOf = rememberRuns((resources: readonly CompiledResource[]): Segment => {
    const content = hashOf(resources.map(({ name, version }) => `${version} ${name}\n`).join(""));
    return { ref: encodeSegment(resources).ref, content, resources, secrets: secretNamesIn(resources) };
  });
  const partOf = rememberRuns(encodePart);
  return (resources) => {
    const known = trees.get(resources);
    if (known !== undefined) return known;
    const segments = cutSegments(resources).map(segmentOf);
    const parts = cutParts(segments).map(partOf);
    const key = parts.map((part) => part.key).join();
    const version = hashOf(segments.map(({ content }) => content).join());
    const secrets = [...new Set(segments.flatMap((segment) => segment.secrets))].sort(byCodePoint);
    const encoded = { key, version, parts, resources, secrets };
    trees.set(resources, encoded);
    return encoded;
  };
}

function encodePart(segments: readonly Segment[]): EncodedPart {
  const [only, ...more] = segments;
  if (only !== undefined && more.length === 0) {
    return { key: only.ref.hash, ref: { segment: only.ref }, blob: undefined, segments };
  }
  const list: SegmentList = { segments: segments.map(({ ref }) => ref) };
  const blob = jsonBlob(list);
  return { key: blob.hash, ref: { list: blob.hash }, blob, segments };
}

/** About so many segments make a part. */
const segmentsPerPart = 16;

/** Cuts like `cutSegments`, by the names at the segments' ends. */
function cutParts(segments: readonly Segment[]): readonly (readonly Segment[])[] {
  const runs: Segment[][] = [];
  let run: Segment[] = [];
  for (const [i, segment] of segments.entries()) {
    run.push(segment);
    const next = segments[i + 1];
    const isBorder = next !== undefined && isOfWorkload(segment.ref.first) !== isOfWorkload(next.ref.first);
    // Salted: every name here already had a small hash when it ended its segment.
    if (isBorder || nameHash(`part ${segment.ref.last}`) < 1 / segmentsPerPart) {
      runs.push(run);
      run = [];
    }
  }
  if (run.length > 0) runs.push(run);
  return runs;
}

/** Remembers what was made of a run of objects, by the identity of all of them. */
function rememberRuns<T extends object, R>(make: (run: readonly T[]) => R): (run: readonly T[]) => R {
  const known = new WeakMap<T, readonly { readonly run: readonly T[]; readonly result: R }[]>();
  return (run) => {
    const [first] = run;
    const entries = (first === undefined ? undefined : known.get(first)) ?? [];
    const same = entries.find((entry) => sameElements(entry.run, run));
    if (same !== undefined) return same.result;
    const result = make(run);
    // A few are enough: a run before and after a change, and where it ends otherwise for some classes.
    if (first !== undefined) known.set(first, [{ run, result }, ...entries.slice(0, 3)]);
    return result;
  };
}

function sameElements(a: readonly unknown[], b: readonly unknown[]): boolean {
  return a.length === b.length && a.every((element, i) => element === b[i]);
}
