import { Code, ConnectError } from "@connectrpc/connect";
import type { SegmentRef } from "../snapshot/root.ts";
import type { LoadedSegment } from "../snapshot/snapshot-reader.ts";
import type { SelectedPart } from "./select-resources.ts";
import type { TreeReader } from "./tree-reader.ts";

/**
 * The messages of selected resources, as they are stored.
 *
 * @throws ConnectError when the snapshot was published without binary forms
 */
export async function binaryResources(
  reader: TreeReader,
  parts: readonly SelectedPart[],
): Promise<readonly Uint8Array<ArrayBuffer>[]> {
  const read = await Promise.all(
    parts.map(async ({ segment, name }) => {
      const { bytes, spans } = await binarySegment(reader, segment);
      const wanted = name === undefined ? [...spans.values()] : [spans.get(name)].filter((span) => span !== undefined);
      return wanted.map((span) => bytes.subarray(span.offset, span.offset + span.bytes));
    }),
  );
  return read.flat();
}

async function binarySegment(reader: TreeReader, segment: SegmentRef): Promise<LoadedSegment> {
  const loaded = await reader.binaries(segment);
  if (loaded === undefined) {
    throw new ConnectError("this snapshot holds no binary forms; ask for JSON", Code.FailedPrecondition);
  }
  return loaded;
}
