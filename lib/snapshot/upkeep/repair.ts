import { blobKey } from "../../base/blob.ts";
import type { ObjectStore } from "../../storage/object-store.ts";
import { blobsIn } from "../blob-groups.ts";
import type { CompiledWorld } from "../compiled.ts";
import { readHead, rootsOfHead } from "../head/head.ts";
import { mendHistory } from "../head/head-copy.ts";
import { readHistory } from "../head/history/history.ts";
import { createSnapshotReader } from "../reader/snapshot-reader.ts";
import type { Root } from "../root.ts";
import { createWorldEncoder } from "../worlds/encode-world.ts";
import { type FsckOptions, type FsckResult, fsck } from "./fsck.ts";

/** Compiles anew what sources hold now, and what they held in the versions that roots were compiled from. */
export type Remake = (versions: readonly Root["sources"][]) => AsyncIterable<CompiledWorld>;

export interface Repaired extends FsckResult {
  /** How many objects were written anew. */
  readonly mended: number;
}

/**
 * Looks at everything as `fsck` does, and writes anew what is missing or damaged: entries of the history from the copies that lie
 * beside HEAD, everything else from what the compiler makes of the same sources. Nothing is written but the bytes that a name
 * stands for.
 *
 * @returns what is wrong still
 */
export async function repair(store: ObjectStore, remake: Remake, options: FsckOptions = {}): Promise<Repaired> {
  let mended = 0;
  let result = await fsck(store, options);
  // What is mended shows what it names.
  for (let round = 0; round < maxRounds && result.problems.length > 0; round += 1) {
    const written = (await mendHistory(store)) + (await mendFromSources(store, remake, new Set(result.broken)));
    if (written === 0) break;
    mended += written;
    result = await fsck(store, options);
  }
  return { ...result, mended };
}

/** As deep as blobs name one another. */
const maxRounds = 6;

async function mendFromSources(store: ObjectStore, remake: Remake, broken: Set<string>): Promise<number> {
  let written = 0;
  const encoder = createWorldEncoder();
  for await (const world of remake(await sourcesOf(store))) {
    if (broken.size === 0) break;
    for (const { hash, make } of blobsIn([encoder.encode(world)]).values()) {
      if (!broken.delete(hash)) continue;
      await store.put(blobKey(hash), make());
      written += 1;
    }
  }
  return written;
}

/** What the roots of HEAD and of its history were compiled from, newest first; each once. */
async function sourcesOf(store: ObjectStore): Promise<readonly Root["sources"][]> {
  const reader = createSnapshotReader(store);
  // What is wrong with HEAD is what `fsck` reports.
  const read = await readHead(store).catch(() => undefined);
  if (read === undefined) return [];
  const roots = new Set(rootsOfHead(read.head));
  for await (const { root } of readHistory(reader, read.head.publication)) roots.add(root);
  const found = new Map<string, Root["sources"]>();
  for (const hash of roots) {
    const text = await reader.textIfWhole(hash);
    if (text === undefined) continue;
    const { sources = [] }: Partial<Root> = JSON.parse(text);
    found.set(JSON.stringify(sources), sources);
  }
  return [...found.values()];
}
