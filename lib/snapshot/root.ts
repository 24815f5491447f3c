/**
 * The blobs of a snapshot as plain data, in proto JSON. The messages, with their meaning, are in
 * proto/portolan/v1/{root,head}.proto; a test holds the two together.
 */
import type { Classifier } from "./classifier.ts";
import type { ResourceType, ShapeName } from "./resource-type.ts";

export interface Root {
  readonly compiler: string;
  readonly sources: readonly { readonly name: string; readonly version: string }[];
  /** Blobs of the type tables. */
  readonly tables: Readonly<Record<ResourceType, string>>;
  readonly classes: string;
  readonly classifier: string;
  readonly nodes: readonly NodeShardRef[];
  readonly diagnostics: string;
  readonly legacy?: string;
}

export interface ClassTable {
  readonly classes: readonly ProxyClass[];
}

export interface ProxyClass extends Readonly<Record<ShapeName, Shape>> {
  readonly id: string;
}

/** Indexes into the trees of the type's table. */
export type Shape = Readonly<Record<ResourceType, number>>;

export interface TypeTable {
  readonly parts: readonly Part[];
  readonly trees: readonly TypeTree[];
}

/** A list of segments by its blob, or one segment itself. */
export type Part = { readonly list: string } | { readonly segment: SegmentRef };

export interface SegmentList {
  readonly segments: readonly SegmentRef[];
}

export interface TypeTree {
  readonly version: string;
  readonly parts: readonly number[];
}

export interface SegmentRef {
  readonly hash: string;
  readonly first: string;
  readonly last: string;
  readonly resources: number;
  readonly bodyOffset: number;
  readonly bodyBytes: number;
  /** Where the same resources lie in protobuf's binary form, if they do. */
  readonly binary?: BinaryRef;
}

export interface BinaryRef {
  readonly hash: string;
  readonly bodyOffset: number;
}

export interface SegmentHeader {
  readonly resources: readonly ResourceEntry[];
}

export interface ResourceEntry {
  readonly name: string;
  readonly version: string;
  readonly bytes: number;
  readonly from: readonly string[];
}

export interface NodeShardRef {
  readonly hash: string;
  readonly first: string;
}

export interface NodeShard {
  readonly classes: Readonly<Record<string, string>>;
}

export interface Head {
  readonly generation: number;
  readonly publication: string;
  readonly steps: readonly Step[];
  readonly canary?: Canary;
}

export interface Step {
  readonly root: string;
  /** RFC 3339 in UTC with milliseconds. */
  readonly at: string;
}

export interface Canary {
  readonly root: string;
  readonly percent: number;
  readonly labels: Readonly<Record<string, string>>;
}

export interface Publication {
  readonly generation: number;
  readonly root: string;
  readonly parent: string;
  readonly at: string;
  readonly reason: PublicationReason;
}

export type PublicationReason = "publish" | "rollback" | "canary" | "promote" | "abort" | "import" | "collect";

export type { Classifier };
