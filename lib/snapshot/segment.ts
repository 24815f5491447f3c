import { type Blob, blobOf } from "./blob.ts";
import type { CompiledResource } from "./compiled.ts";
import type { ResourceEntry, SegmentHeader, SegmentRef } from "./root.ts";

/** A run of resources that is stored as one blob. */
export interface Segment {
  readonly ref: SegmentRef;
  readonly resources: readonly CompiledResource[];
}

const targetBytes = 32 * 1024;

/**
 * Cuts a sorted list into runs of about 32 KiB. Whether a run ends after a resource depends on that resource alone (the
 * hash of its name, against its share of the target size), so a change moves no boundary but its own.
 */
export function cutSegments(resources: readonly CompiledResource[]): readonly (readonly CompiledResource[])[] {
  const runs: CompiledResource[][] = [];
  let run: CompiledResource[] = [];
  for (const resource of resources) {
    run.push(resource);
    if (nameHash(resource.name) < resource.text.length / targetBytes) {
      runs.push(run);
      run = [];
    }
  }
  if (run.length > 0) runs.push(run);
  return runs;
}

/** FNV-1a of the name, mixed once more, as a fraction from 0 to 1: even where names differ in their last letter only. */
function nameHash(name: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < name.length; i += 1) hash = Math.imul(hash ^ name.charCodeAt(i), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32;
}

const encoder = new TextEncoder();
const separator = ",\n";

/** The blob of a run and how a tree refers to it. `resources` is not empty. */
export function encodeSegment(resources: readonly CompiledResource[]): {
  readonly ref: SegmentRef;
  readonly blob: Blob;
} {
  const header: SegmentHeader = {
    resources: resources.map(({ name, version, text, from }) => ({ name, version, bytes: utf8Length(text), from })),
  };
  const head = `${JSON.stringify(header)}\n`;
  const blob = blobOf(head + resources.map((resource) => resource.text).join(separator));
  const bodyOffset = utf8Length(head);
  const ref = {
    hash: blob.hash,
    first: resources[0]?.name ?? "",
    last: resources.at(-1)?.name ?? "",
    resources: resources.length,
    bodyOffset,
    bodyBytes: blob.bytes.length - bodyOffset,
  };
  return { ref, blob };
}

/** Where one resource's text lies in the blob of its segment. */
export interface ResourceSpan extends ResourceEntry {
  /** From the start of the blob. */
  readonly offset: number;
}

/** What a segment holds, without reading a resource. */
export function readSpans(ref: SegmentRef, bytes: Uint8Array): readonly ResourceSpan[] {
  // Blobs are named by their hash and written by encodeSegment only.
  const header: SegmentHeader = JSON.parse(new TextDecoder().decode(bytes.subarray(0, ref.bodyOffset)));
  let offset = ref.bodyOffset;
  return header.resources.map((entry) => {
    const span = { ...entry, offset };
    offset += entry.bytes + separator.length;
    return span;
  });
}

/** The resources of a stored segment, as the compiler once handed them in. */
export function decodeSegment(ref: SegmentRef, bytes: Uint8Array): readonly CompiledResource[] {
  const decoder = new TextDecoder();
  return readSpans(ref, bytes).map(({ name, version, from, offset, bytes: length }) => ({
    name,
    version,
    from,
    text: decoder.decode(bytes.subarray(offset, offset + length)),
  }));
}

function utf8Length(text: string): number {
  // Nearly all texts are ASCII, for which nothing has to be encoded.
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the range of ASCII
  return /^[\x00-\x7f]*$/.test(text) ? text.length : encoder.encode(text).length;
}
