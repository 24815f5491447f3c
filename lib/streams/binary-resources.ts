import { Code, ConnectError } from "@connectrpc/connect";
import type { LoadedSegment } from "../snapshot/reader/loaded.ts";
import type { SegmentRef } from "../snapshot/root.ts";
import type { SelectedPart } from "./select-resources.ts";
import type { TreeReader } from "./tree-reader.ts";

/**
 * The messages of selected resources, as they are stored. A segment is read once, however many of its resources are selected.
 *
 * @throws ConnectError when the snapshot was published without binary forms
 */
export async function binaryResources(
  reader: TreeReader,
  parts: readonly SelectedPart[],
): Promise<readonly Uint8Array<ArrayBuffer>[]> {
  const read = new Map<SegmentRef, Promise<LoadedSegment>>();
  const selected = await Promise.all(
    parts.map(async ({ segment, name }) => {
      const loading = read.get(segment) ?? binarySegment(reader, segment);
      read.set(segment, loading);
      const { bytes, spans } = await loading;
      const wanted = name === undefined ? [...spans.values()] : [spans.get(name)].filter((span) => span !== undefined);
      return wanted.map((span) => bytes.subarray(span.offset, span.offset + span.bytes));
    }),
  );
  return selected.flat();
}

async function binarySegment(reader: TreeReader, segment: SegmentRef): Promise<LoadedSegment> {
  const loaded = await reader.binaries(segment);
  if (loaded === undefined) {
    throw new ConnectError("this snapshot holds no binary forms; ask for JSON", Code.FailedPrecondition);
  }
  return loaded;
}
