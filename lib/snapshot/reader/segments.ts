import { concatBytes } from "../../base/blob.ts";
import { type LongReader, loadInOrder } from "../long/read-long.ts";
import type { BinaryRef, ResourceEntry, SegmentRef } from "../root.ts";
import { type ResourceSpan, readBinarySpans, readSpans } from "../segment.ts";
import { createLoadCache } from "../worlds/load-cache.ts";
import type { Blobs } from "./blobs.ts";
import type { LoadedSegment } from "./loaded.ts";

/** Reads resources. */
export interface Segments {
  /** What resources a segment has, by name. The text of a long one is not read. */
  entries(ref: SegmentRef): Promise<ReadonlyMap<string, ResourceEntry>>;
  /** The texts of a segment, joined by commas, or that of one resource of it; nothing for a name that it does not have. */
  texts(ref: SegmentRef, name?: string): AsyncGenerator<Uint8Array<ArrayBuffer>>;
  /** Its resources in protobuf's binary form; undefined when it was published without. */
  binaries(ref: SegmentRef): Promise<LoadedSegment | undefined>;
  /** A segment's blob. @throws PortolanError for one of a long resource, which has none */
  segment(ref: SegmentRef): Promise<LoadedSegment>;
  /** A chunk of the legacy API's documents. */
  legacyChunk(hash: string): Promise<Uint8Array<ArrayBuffer>>;
}

/** A chunk of a long resource, by its blob. */
type ChunkRef = Pick<BinaryRef, "hash">;

/** @param maxBytes stored size of the JSON segments that are kept, and of the binary ones */
export function createSegments({ bytes }: Blobs, long: LongReader, maxBytes: number): Segments {
  const cacheOf = <R extends BinaryRef | ChunkRef>(spansOf: (ref: R, bytes: Uint8Array) => readonly ResourceSpan[]) =>
    createLoadCache<R, LoadedSegment>({
      nameOf: (ref) => ref.hash,
      maxBytes,
      load: async (ref) => {
        const raw = await bytes(ref.hash);
        return { bytes: raw, spans: new Map(spansOf(ref, raw).map((span) => [span.name, span])) };
      },
      sizeOf: (segment) => segment.bytes.length,
    });
  const segments = cacheOf<SegmentRef | ChunkRef>((ref, raw) => ("first" in ref ? readSpans(ref, raw) : []));
  const binarySegments = cacheOf<BinaryRef | ChunkRef>((ref, raw) =>
    "bodyOffset" in ref ? readBinarySpans(ref, raw) : [],
  );

  return {
    async entries(ref) {
      if (ref.long === undefined) return (await segments.get(ref)).spans;
      const { version } = ref.long;
      const entry = { name: ref.first, version, bytes: ref.bodyBytes, from: await long.origins(ref.long) };
      return new Map([[entry.name, entry]]);
    },
    async *texts(ref, name) {
      if (ref.long !== undefined) {
        if (name !== undefined && name !== ref.first) return;
        const chunks = await long.runs(ref.long);
        for await (const chunk of loadInOrder(chunks, ({ text: hash }) => segments.get({ hash }))) yield chunk.bytes;
        return;
      }
      const { bytes, spans } = await segments.get(ref);
      if (name === undefined) return yield bytes.subarray(ref.bodyOffset);
      const span = spans.get(name);
      if (span !== undefined) yield bytes.subarray(span.offset, span.offset + span.bytes);
    },
    async binaries(ref) {
      if (ref.long === undefined) return ref.binary && binarySegments.get(ref.binary);
      const chunks = await long.runs(ref.long);
      const hashes = chunks.flatMap(({ binary }) => (binary === undefined ? [] : [{ hash: binary }]));
      if (hashes.length < chunks.length) return undefined;
      // One message: its chunks are put together for as long as it is sent.
      const loaded = await Promise.all(hashes.map((hash) => binarySegments.get(hash)));
      const whole = concatBytes(loaded.map(({ bytes }) => bytes));
      const span = { name: ref.first, version: ref.long.version, bytes: whole.length, from: [], offset: 0 };
      return { bytes: whole, spans: new Map([[span.name, span]]) };
    },
    segment: (ref) => segments.get(ref),
    legacyChunk: async (hash) => (await segments.get({ hash })).bytes,
  };
}
