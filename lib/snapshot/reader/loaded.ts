import type { Classifier } from "../../base/classifier.ts";
import type { PartRef, ProxyClass, Root, SegmentRef } from "../root.ts";
import type { ResourceSpan } from "../segment.ts";

/** A root with what every request needs of it. */
export interface LoadedRoot {
  readonly hash: string;
  readonly root: Root;
  readonly classes: ReadonlyMap<string, ProxyClass>;
  readonly classifier: Classifier;
  /** What it was read from, as it is stored. */
  readonly storedBytes: number;
}

export interface LoadedTree {
  readonly version: string;
  readonly segments: readonly SegmentRef[];
  /** All of it, as an answer that comes whole lists it. */
  readonly parts: readonly { readonly segment: SegmentRef }[];
}

/** A run of segments; equal keys, the same segments. */
export interface LoadedPart {
  readonly key: string;
  readonly segments: readonly SegmentRef[];
  /** As it is stored. */
  readonly ref: PartRef;
}

/** All of a type's table. */
export interface LoadedTable {
  readonly parts: readonly LoadedPart[];
  /** Of each tree the places of its parts. */
  readonly trees: readonly (readonly number[])[];
  /** Every blob that it names, its own among them. */
  readonly blobs: ReadonlySet<string>;
}

export interface LoadedSegment {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly spans: ReadonlyMap<string, ResourceSpan>;
}
