import type { CompiledWorld } from "../compiled.ts";
import type { SnapshotReader } from "../reader/snapshot-reader.ts";
import { createWorldEncoder } from "./encode-world.ts";
import { restoreWorld } from "./restore-world.ts";

/** A stored world beside another: what they share is the same object in both, so that comparing them costs what differs. */
export async function loadWorldLike(
  reader: SnapshotReader,
  root: string,
  other: CompiledWorld,
): Promise<CompiledWorld> {
  const encoded = createWorldEncoder().encode(other);
  return (await restoreWorld(reader, root, { world: other, encoded })).world;
}
