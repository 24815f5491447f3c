import type { Diagnostic } from "../base/diagnostic.ts";
import type { SnapshotReader } from "../snapshot/reader/snapshot-reader.ts";

/** What a compile said, by the root that it made. */
export async function diagnosticsOfRoot(reader: SnapshotReader, hash: string): Promise<readonly Diagnostic[]> {
  const { diagnostics } = (await reader.root(hash)).root;
  // What `createWorldEncoder` wrote, under its checksum.
  return JSON.parse(await reader.text(diagnostics));
}
