import { hashOf } from "../snapshot/blob.ts";
import { isWildcard, type ResourceType, type ShapeName, typeUrlOf } from "../snapshot/resource-type.ts";
import type { LoadedRoot, SnapshotReader } from "../snapshot/snapshot-reader.ts";
import { findResources } from "./find-resources.ts";

/** What a class would be told, before anything of it is sent. */
export type Answer =
  | {
      readonly kind: "found";
      readonly version: string;
      readonly body: AnswerBody;
    }
  /** None of the names asked for exists in the class. */
  | { readonly kind: "unknown-names" };

/** A DiscoveryResponse as the pieces it is stored in; nothing is read before a piece is asked for. */
export interface AnswerBody {
  readonly bytes: number;
  chunks(): AsyncGenerator<Uint8Array<ArrayBuffer>>;
}

/** Characters of a content hash that go over the wire: 128 bits. */
const versionLength = 32;

/**
 * The answer for a class: the whole type, or the resources of the given names. Its version covers what would be sent and
 * nothing else, so that a change elsewhere disturbs nobody.
 *
 * @returns undefined when the root has no such class
 */
export async function answerFor(
  reader: SnapshotReader,
  loaded: LoadedRoot,
  question: {
    readonly classId: string;
    readonly shape: ShapeName;
    readonly type: ResourceType;
    readonly names: readonly string[];
  },
): Promise<Answer | undefined> {
  const proxyClass = loaded.classes.get(question.classId);
  const treeRef = proxyClass && loaded.root.trees[proxyClass[question.shape][question.type]];
  if (treeRef === undefined) return undefined;
  const tree = await reader.tree(treeRef.hash);
  if (isWildcard(question.type) && question.names.length === 0) {
    const version = treeRef.version.slice(0, versionLength);
    const pieces = tree.segments.map((ref) => ({
      bytes: ref.bodyBytes,
      read: async () => (await reader.segment(ref)).bytes.subarray(ref.bodyOffset),
    }));
    return { kind: "found", version, body: bodyOf(question.type, version, pieces) };
  }

  const found = await findResources(reader, tree, question.names);
  const [first] = found;
  if (first === undefined) return { kind: "unknown-names" };
  const full = found.length === 1 ? first.span.version : hashOf(found.map(({ span }) => span.version).join());
  const version = full.slice(0, versionLength);
  const pieces = found.map(({ segment, span }) => ({
    bytes: span.bytes,
    read: async () => segment.bytes.subarray(span.offset, span.offset + span.bytes),
  }));
  return { kind: "found", version, body: bodyOf(question.type, version, pieces) };
}

interface Piece {
  readonly bytes: number;
  read(): Promise<Uint8Array<ArrayBuffer>>;
}

const encoder = new TextEncoder();
const comma = encoder.encode(",\n");
const suffix = encoder.encode("]}\n");

/** Prefix, pieces joined by commas, suffix. */
function bodyOf(type: ResourceType, version: string, pieces: readonly Piece[]): AnswerBody {
  const prefix = encoder.encode(`{"version_info":"${version}","type_url":"${typeUrlOf(type)}","resources":[\n`);
  const commas = Math.max(pieces.length - 1, 0) * comma.length;
  const bytes = prefix.length + pieces.reduce((sum, piece) => sum + piece.bytes, 0) + commas + suffix.length;
  return {
    bytes,
    async *chunks() {
      yield prefix;
      for (const [i, piece] of pieces.entries()) {
        if (i > 0) yield comma;
        yield await piece.read();
      }
      yield suffix;
    },
  };
}
