import type { CompiledResource, TextChunk } from "../compiled.ts";
import { longResource, textChunk } from "../long/long-resource.ts";
import type { StoredChunk } from "../long/read-long.ts";
import type { SnapshotReader } from "../reader/snapshot-reader.ts";
import type { LongRef, SegmentRef } from "../root.ts";

/** A reference to a long resource. */
export type LongSegmentRef = SegmentRef & { readonly long: LongRef };

/** Reads long resources. Each run is read once, so that resources share it as an object. */
export function createLongLoader(
  reader: SnapshotReader,
  known: Iterable<TextChunk>,
): (ref: LongSegmentRef) => Promise<CompiledResource> {
  const keyOf = ({ text, binary }: StoredChunk): string => `${text} ${binary ?? ""}`;
  const runs = new Map<string, TextChunk | Promise<TextChunk>>();
  for (const run of known) runs.set(keyOf({ text: run.hash, binary: run.binary?.hash }), run);
  const read = async ({ text, binary }: StoredChunk): Promise<TextChunk> =>
    textChunk(await reader.text(text), binary === undefined ? undefined : await reader.bytes(binary));
  const runOf = (stored: StoredChunk): TextChunk | Promise<TextChunk> => {
    const key = keyOf(stored);
    const run = runs.get(key) ?? read(stored);
    runs.set(key, run);
    return run;
  };
  return async ({ first, long }) =>
    longResource({
      name: first,
      runs: await Promise.all((await reader.long.runs(long)).map(runOf)),
      from: await reader.long.origins(long),
    });
}
