import { loadInOrder } from "../../snapshot/long/read-long.ts";
import type { SnapshotReader } from "../../snapshot/reader/snapshot-reader.ts";
import { type ResourceType, typeUrlOf } from "../../snapshot/resource-type.ts";
import type { SelectedPart, Selection } from "../../streams/select-resources.ts";
import type { Pieces } from "../requests/answer.ts";

/** A response body as the pieces it is stored in; nothing is read before a piece is asked for. */
export interface ChunkedBody extends Pieces {
  readonly bytes: number;
}

interface Piece {
  readonly bytes: number;
  /** Reads it, or the beginning of what is long. */
  load(): Promise<() => AsyncGenerator<Uint8Array<ArrayBuffer>>>;
}

const encoder = new TextEncoder();
const comma = encoder.encode(",\n");
const suffix = encoder.encode("]}\n");

/** A DiscoveryResponse in proto JSON: a prefix, stored texts joined by commas, a suffix. No resource is parsed. */
export async function discoveryBody(
  reader: SnapshotReader,
  type: ResourceType,
  selection: Selection,
): Promise<ChunkedBody> {
  const pieces = await Promise.all(selection.parts.map((part) => pieceOf(reader, part)));
  const head = `{"version_info":"${selection.version}","type_url":"${typeUrlOf(type)}","resources":[\n`;
  const prefix = encoder.encode(head);
  const commas = Math.max(pieces.length - 1, 0) * comma.length;
  return {
    bytes: prefix.length + pieces.reduce((sum, piece) => sum + piece.bytes, 0) + commas + suffix.length,
    async *chunks() {
      yield prefix;
      let isFirst = true;
      // Some of the next are read meanwhile: one after the other, each would cost the way to the store and back.
      for await (const texts of loadInOrder(pieces, (piece) => piece.load())) {
        if (!isFirst) yield comma;
        isFirst = false;
        yield* texts();
      }
      yield suffix;
    },
  };
}

async function pieceOf(reader: SnapshotReader, { segment, name }: SelectedPart): Promise<Piece> {
  const bytes = name === undefined ? segment.bodyBytes : (await reader.entries(segment)).get(name)?.bytes;
  return {
    bytes: bytes ?? 0,
    async load() {
      if (segment.long === undefined) await reader.segment(segment);
      return () => reader.texts(segment, name);
    },
  };
}
