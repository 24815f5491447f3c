import { type Blob, concatBytes, hashOf } from "../base/blob.ts";
import { cutEvenly } from "../base/cut-evenly.ts";
import { nameHash } from "../base/name-hash.ts";
import { utf8Length } from "../base/utf8-length.ts";
import type { BlobGroup } from "./blob-groups.ts";
import type { CompiledResource } from "./compiled.ts";
import { evictable } from "./evictable.ts";
import { hasChunks, textLength } from "./long/long-resource.ts";
import { splitBetween } from "./long/split-between.ts";
import { retain } from "./retained.ts";
import type { BinaryRef, ResourceEntry, SegmentHeader, SegmentRef } from "./root.ts";

/** A run of resources that is stored as one blob, or a long resource, which is stored as its lists are. */
export interface Segment extends BlobGroup {
  readonly ref: SegmentRef;
  /** Hash of the names and versions of its resources. */
  readonly content: string;
  readonly resources: readonly CompiledResource[];
  /** Names of the secrets that they name. */
  readonly secrets: readonly string[];
}

/** About so long is a segment, in UTF-16 code units. */
const segmentLength = 16 * 1024;

/** About so long is what its header says of a resource: a name, a version, origins. */
const entryLength = 240;

/** Cuts a sorted list into runs of about 16 KiB as they are stored. What is of one workload only is kept apart from what classes share. */
export const cutSegments = (resources: readonly CompiledResource[]): readonly (readonly CompiledResource[])[] =>
  splitBetween(resources, endsStretch).flatMap((stretch) => cutEvenly(stretch, segmentLength, byName));

const byName = {
  weight: (resource: CompiledResource) => textLength(resource) + entryLength,
  hash: ({ name }: CompiledResource) => nameHash(name),
};

/** About so long is a stretch, where nothing else ends it. */
const stretchLength = 512 * 1024;

/** Whether a stretch, which is cut by itself, ends between two neighbours: by what they are, whatever list they stand in. */
export const endsStretch = (resource: CompiledResource, next: CompiledResource): boolean =>
  isBorder(resource, next) || nameHash(resource.name, "stretch ") < textLength(resource) / stretchLength;

/** Whether what classes share ends between two neighbours, or begins; and on both sides of a long resource. */
const isBorder = (resource: CompiledResource, next: CompiledResource): boolean =>
  isOfWorkload(resource.name) !== isOfWorkload(next.name) || hasChunks(resource) || hasChunks(next);

/** Whether a resource is of one workload: its inbound clusters and its inbound listener. */
export const isOfWorkload = (name: string): boolean => name.startsWith("inbound|") || name === "virtualInbound";

const encoder = new TextEncoder();
const decoder = new TextDecoder();
const separator = ",\n";

/**
 * A run as it is stored, and how a tree refers to it. `resources` is not empty.
 *
 * @param tell handed the bytes of the run's texts
 */
export function encodeSegment(
  resources: readonly CompiledResource[],
  tell?: (blob: Blob) => void,
): Pick<Segment, "ref" | "blobs"> {
  const { text, bodyOffset } = segmentText(resources);
  const bytes = encoder.encode(text);
  const hash = hashOf(bytes);
  tell?.({ hash, bytes });
  retain(bytes, bytes.length);
  const make = evictable(new WeakRef(bytes), () => encoder.encode(segmentText(resources).text));
  const ref = {
    hash,
    first: resources[0]?.name ?? "",
    last: resources.at(-1)?.name ?? "",
    resources: resources.length,
    bodyOffset,
    bodyBytes: bytes.length - bodyOffset,
  };
  const binary = segmentBinary(resources);
  if (binary === undefined) return { ref, blobs: [{ hash, make }] };
  const binaryBlob = { hash: hashOf(binary.bytes), make: () => segmentBinary(resources)?.bytes ?? new Uint8Array() };
  return {
    ref: { ...ref, binary: { hash: binaryBlob.hash, bodyOffset: binary.bodyOffset } },
    blobs: [{ hash, make }, binaryBlob],
  };
}

function segmentText(resources: readonly CompiledResource[]) {
  const texts = resources.map(({ text }) => text);
  const head = headerLine(resources, texts.map(utf8Length));
  const body = texts.join(separator);
  return { text: head + body, bodyOffset: utf8Length(head) };
}

/** The binary forms of a run as they are stored; undefined unless every resource has one. */
function segmentBinary(
  resources: readonly CompiledResource[],
): { readonly bytes: Uint8Array<ArrayBuffer>; readonly bodyOffset: number } | undefined {
  const binaries = resources.flatMap(({ binary }) => (binary === undefined ? [] : [binary]));
  if (binaries.length < resources.length) return undefined;
  const head = encoder.encode(
    headerLine(
      resources,
      binaries.map(({ length }) => length),
    ),
  );
  return { bytes: concatBytes([head, ...binaries]), bodyOffset: head.length };
}

/** @param sizes in bytes, of the resources in their order */
function headerLine(resources: readonly CompiledResource[], sizes: readonly number[]): string {
  const header: SegmentHeader = {
    resources: resources.map(({ name, version, from }, at) => ({ name, version, bytes: sizes[at] ?? 0, from })),
  };
  return `${JSON.stringify(header)}\n`;
}

/** Where one resource's text lies in the blob of its segment. */
export interface ResourceSpan extends ResourceEntry {
  /** From the start of the blob. */
  readonly offset: number;
}

/** What a segment's texts are and where, without reading one. */
export const readSpans = (ref: SegmentRef, bytes: Uint8Array): readonly ResourceSpan[] =>
  spansOf(bytes, ref.bodyOffset, separator.length);

/** What a segment's binary forms are and where. */
export const readBinarySpans = (ref: BinaryRef, bytes: Uint8Array): readonly ResourceSpan[] =>
  spansOf(bytes, ref.bodyOffset, 0);

function spansOf(bytes: Uint8Array, bodyOffset: number, gap: number): readonly ResourceSpan[] {
  // Blobs are named by their hash and written by segmentText only.
  const header: SegmentHeader = JSON.parse(decoder.decode(bytes.subarray(0, bodyOffset)));
  let offset = bodyOffset;
  return header.resources.map((entry) => {
    const span = { ...entry, offset };
    offset += entry.bytes + gap;
    return span;
  });
}

/** The resources of a stored segment, as the compiler once handed them in. */
export function decodeSegment(
  ref: SegmentRef,
  bytes: Uint8Array<ArrayBuffer>,
  binaryBytes?: Uint8Array<ArrayBuffer>,
): readonly CompiledResource[] {
  const binaries =
    ref.binary === undefined || binaryBytes === undefined ? [] : readBinarySpans(ref.binary, binaryBytes);
  return readSpans(ref, bytes).map(({ name, version, from, offset, bytes: length }, i) => {
    const text = decoder.decode(bytes.subarray(offset, offset + length));
    const span = binaries[i];
    const binary = span && binaryBytes?.slice(span.offset, span.offset + span.bytes);
    return { name, version, from, text, ...(binary === undefined ? {} : { binary }) };
  });
}
