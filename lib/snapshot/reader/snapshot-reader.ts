import type { LegacyIndex } from "../../legacy/compiled-legacy.ts";
import { readStageCondition } from "../head/stage-conditions.ts";
import { createLongReader, type LongReader } from "../long/read-long.ts";
import { classesIn, nodesIn, shardFor } from "../nodes/node-index.ts";
import type { NodeShard, Root, StageCondition } from "../root.ts";
import { createLoadCache } from "../worlds/load-cache.ts";
import { type BlobSource, type Blobs, blobsOf } from "./blobs.ts";
import type { LoadedRoot } from "./loaded.ts";
import { atLeast, createRootCache } from "./roots.ts";
import { createSegments, type Segments } from "./segments.ts";
import { createTrees, type Trees } from "./trees.ts";

/** Reads snapshots out of a store; what is read stays in memory up to a limit, and is never stale, being named by its hash. */
export interface SnapshotReader extends Blobs, Trees, Segments {
  root(hash: string): Promise<LoadedRoot>;
  /** The gate of a step; undefined for one that is missing or damaged. */
  gate(hash: string): Promise<StageCondition | undefined>;
  /** Where the chunks of long resources lie. */
  readonly long: LongReader;
  /**
   * Classes of the nodes that have a key in the root's node index.
   *
   * @param clusterId of the node: one class at most; absent: those of all clusters that have such a node
   */
  nodeClasses(root: Root, key: string, clusterId?: string): Promise<readonly string[]>;
  /** The index of the legacy API. */
  legacy(hash: string): Promise<LegacyIndex>;
  /** A text of the legacy API, as its index or a composition names it. */
  legacyText(hash: string): Promise<string>;
}

/**
 * @param maxBytes stored size of the segments that are kept; of roots as much again, of the rest less
 * @param onMissed called with the hash of each blob that the store does not have, or has damaged
 */
export function createSnapshotReader(
  store: BlobSource,
  maxBytes = 64 * 1024 * 1024,
  onMissed: (hash: string) => void = () => {},
): SnapshotReader {
  // What is parsed here was written by encodeWorld: a blob's name vouches for its content.
  const blobs = blobsOf(store, onMissed);
  const { text } = blobs;
  const byHash = { nameOf: (hash: string) => hash };
  const long = createLongReader(text, maxBytes / 4);
  const roots = createRootCache(blobs, maxBytes);
  const shards = createLoadCache<string, NodeShard>({
    ...byHash,
    maxBytes: maxBytes / 8,
    load: async (hash) => JSON.parse(await text(hash)),
    sizeOf: (shard) => nodesIn(shard).length * 100,
  });
  const gates = createLoadCache<string, StageCondition | undefined>({
    ...byHash,
    maxBytes: maxBytes / 8,
    load: (hash) => readStageCondition(store, hash),
    sizeOf: (gate) => 100 + 100 * Object.keys(gate?.classes ?? {}).length,
  });
  const legacyIndexes = createLoadCache<string, { readonly index: LegacyIndex; readonly storedBytes: number }>({
    ...byHash,
    maxBytes: maxBytes / 4,
    keepsLatest: true,
    load: async (hash) => {
      const found = await text(hash);
      return { index: JSON.parse(found), storedBytes: found.length };
    },
    sizeOf: ({ storedBytes }) => atLeast(storedBytes, maxBytes / 4),
  });
  const legacyTexts = createLoadCache<string, string>({
    ...byHash,
    maxBytes: maxBytes / 4,
    load: text,
    sizeOf: (loaded) => loaded.length,
  });
  return {
    ...blobs,
    ...createTrees(blobs, long, maxBytes / 8),
    ...createSegments(blobs, long, maxBytes),
    long,
    root: (hash) => roots.get(hash),
    gate: (hash) => gates.get(hash),
    async nodeClasses(root, key, clusterId) {
      const shard = shardFor(root.nodes, key);
      return shard === undefined ? [] : classesIn(await shards.get(shard.hash), key, clusterId);
    },
    legacy: async (hash) => (await legacyIndexes.get(hash)).index,
    legacyText: (hash) => legacyTexts.get(hash),
  };
}
