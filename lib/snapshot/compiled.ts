import type { Blob } from "../base/blob.ts";
import type { Classifier } from "../base/classifier.ts";
import type { Diagnostic } from "../base/diagnostic.ts";
import type { CompiledLegacy } from "../legacy/compiled-legacy.ts";
import type { OfTypes, ResourceType, ShapeName } from "./resource-type.ts";
import type { Made } from "./reuse/reuse-record.ts";
import type { Lookups, SecretGrant } from "./root.ts";
import type { TrustBundles } from "./trust-bundle.ts";

/**
 * What the compiler hands to `publish`: every answer of every class, as text. Publishing costs what changed only if
 * whatever did not change is the same object as last time, a resource and a resource list alike.
 */
export interface CompiledWorld {
  /** Sorted by id, ids unique. */
  readonly classes: readonly CompiledClass[];
  /** The same classes, column by column, where whoever made them has them so; one that is of other classes counts for nothing. */
  readonly table?: CompiledTable;
  readonly classifier: Classifier;
  /** Nodes that can be found without metadata. */
  readonly nodes: readonly CompiledNode[];
  readonly diagnostics: readonly Diagnostic[];
  /** What is told to the objects that have a status, sorted by kind, namespace and name; absent where none has. */
  readonly statuses?: readonly CompiledStatus[];
  /** Secrets of other namespaces that gateways may be given, sorted; absent where there are none. */
  readonly secretGrants?: readonly SecretGrant[];
  /** What its configuration wants to know of a network; absent: nothing. */
  readonly lookups?: Lookups;
  /** Certificates that its resources may name; absent: none. A root keeps those that they do. */
  readonly trustBundles?: TrustBundles;
  /** Answers of the legacy v1 API; absent where nobody asks for them. */
  readonly legacy?: CompiledLegacy;
  /** The source shards behind it, sorted by name. */
  readonly sources: readonly CompiledSource[];
  /** Hash over its configuration alone, without services and endpoints; absent where whoever made it does not tell them apart. */
  readonly configuration?: string;
  /** Version of the compiler. */
  readonly compiler: string;
  /** Release of Istio whose behaviour the answers have; absent where it is not known. */
  readonly release?: string;
  /** How it was made, where a compile that starts with an empty memory may take from it what still stands. */
  readonly made?: Made;
}

/** The lists of many classes for one type, a row for each class, by shape. */
export type ListColumns = Readonly<Record<ShapeName, readonly CompiledList[]>>;

/** The answers of many classes, column by column: where a change leaves a type as it was, its columns are the same objects. */
export interface CompiledTable {
  /** The same, class by class. */
  readonly classes: readonly CompiledClass[];
  /** A type of which no class has anything may be absent. */
  readonly lists: Readonly<Partial<Record<ResourceType, ListColumns>>>;
}

/** Proxies that get the same answers. */
export interface CompiledClass {
  /** Stable over compiles while the class selects the same things; at most 64 letters, digits and `-`. */
  readonly id: string;
  readonly stream: CompiledShape;
  readonly poll: CompiledShape;
}

export type CompiledShape = OfTypes<CompiledList>;

/** The list of a class that has nothing of a type. */
export const noList: CompiledList = [];

/** The list of a type, which is empty where a class has none of it. */
export const listIn = (shape: CompiledShape, type: ResourceType): CompiledList => shape[type] ?? noList;

/** Resources that classes share as one object; sorted by name, names unique, never empty. */
export type CompiledPart = readonly CompiledResource[];

/**
 * One type's answer for one class, in parts that follow each other by name. No stage goes over a part once for each class that
 * has it: what is made of a part is remembered by the part, what is made of a list costs its parts.
 */
export type CompiledList = readonly CompiledPart[];

/** All of a list, sorted by name. */
export const resourcesIn = (list: CompiledList): readonly CompiledResource[] =>
  list.length === 1 ? (list[0] ?? []) : list.flat();

export interface CompiledResource {
  readonly name: string;
  /** Its JSON with `@type`, on one line, ready to be sent. That of one with runs is put together whenever it is read. */
  readonly text: string;
  /** SHA-256 of the text in UTF-8, lower-case hex; of one with runs, a hash over theirs. */
  readonly version: string;
  /** The objects it was made from, as `keyText` writes them; sorted. */
  readonly from: readonly string[];
  /** The same message in protobuf's binary form, without its type; absent where nobody is to read it so. */
  readonly binary?: Uint8Array<ArrayBuffer>;
  /** The parts of a long text, which resources share as objects: see `long/cut-chunks.ts`. Absent for a short one. */
  readonly runLists?: readonly TextChunkList[];
}

/** Runs that follow each other in a long text, as many as one stored list names. */
export interface TextChunkList {
  readonly runs: readonly TextChunk[];
  /** Their hashes, joined by commas: a table's version is made of those of all its runs. */
  readonly hashes: string;
  /** Of the texts, in UTF-16 code units. */
  readonly length: number;
  readonly sizeBytes: number;
  /** Whether each has a binary form. */
  readonly hasBinary: boolean;
}

/** A part of a long text. */
export interface TextChunk {
  /** SHA-256 of the text in UTF-8, lower-case hex. */
  readonly hash: string;
  readonly text: string;
  readonly sizeBytes: number;
  /** From 0 to 1, of the hash: where a list of runs ends follows from it. */
  readonly cutHash: number;
  readonly binary?: Blob;
}

/** How many resources a list has. */
export const lengthOf = (list: CompiledList): number => list.reduce((sum, part) => sum + part.length, 0);

/** The status of one object, as a controller writes it. */
export interface CompiledStatus {
  /** As `keyText` writes it. */
  readonly object: string;
  /** Generation of the object that it speaks of. */
  readonly generation: number;
  /** Of the very object that it speaks of, by which a server tells it from others of its name; absent: no server has it. */
  readonly uid?: string;
  /** Whose entries are ours, where a status holds those of several controllers; absent: it is ours as a whole. */
  readonly controllers?: readonly string[];
  readonly status: object;
}

/** A node that the compiler knows: how it may call itself, and its class. */
export interface CompiledNode {
  /** Its `podName.namespace`, its addresses, and `accountKey` where it has a service account. */
  readonly keys: readonly string[];
  readonly classId: string;
  /** Id of the cluster that it runs in; absent for a node of a root up to format 4. */
  readonly clusterId?: string;
}

export interface CompiledSource {
  readonly name: string;
  readonly version: string;
  /** The version whose configuration counts, "" for none; absent: that of `version`. */
  readonly configuration?: string;
}

export type { ResourceType, ShapeName };
