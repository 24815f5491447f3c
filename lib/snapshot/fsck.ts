import type { ObjectStore } from "../storage/object-store.ts";
import { blobKey, hashOf } from "./blob.ts";
import { createWorldCheck } from "./check-world.ts";
import { readHead, rootsOfHead } from "./head.ts";
import { readHistory } from "./history.ts";
import { reachableFrom } from "./reachable.ts";
import { restoreWorld } from "./restore-world.ts";
import { isSigned, type Trust } from "./signatures.ts";
import { createSnapshotReader } from "./snapshot-reader.ts";

export interface FsckResult {
  readonly publications: number;
  readonly roots: number;
  readonly blobs: number;
  /** What is wrong, in words; empty when all is well. */
  readonly problems: readonly string[];
}

export interface FsckOptions extends Pick<Trust, "trusted"> {
  readonly keepPublications?: number;
}

/**
 * Proves that everything that can be asked for is there: every blob that HEAD and its history reach exists and hashes to its
 * name, generations fall by one along the chain, and every root that HEAD names is whole.
 *
 * @param options.keepPublications how far back the history is kept; beyond it nothing is promised
 * @param options.trusted keys of which one must have signed HEAD; none are asked for when it is absent
 */
export async function fsck(store: ObjectStore, options: FsckOptions = {}): Promise<FsckResult> {
  const { keepPublications = Number.POSITIVE_INFINITY, trusted } = options;
  const problems: string[] = [];
  const attempt = async (what: string, check: () => Promise<void>) =>
    check().catch((cause: unknown) => {
      problems.push(`${what}: ${cause instanceof Error ? cause.message : String(cause)}`);
    });
  const result = { publications: 0, roots: 0, blobs: 0 };
  const reader = createSnapshotReader(store);
  const roots = new Set<string>();
  const blobs = new Set<string>();
  const isWhole = createWorldCheck();

  await attempt("HEAD", async () => {
    const read = await readHead(store);
    if (read === undefined) return;
    const { head } = read;
    if (trusted !== undefined && !(await isSigned(trusted, head)))
      problems.push("HEAD is signed with none of the trusted keys");
    for (const root of rootsOfHead(head)) roots.add(root);
    for (const root of roots) {
      await attempt(`root ${root}`, async () => {
        const { world } = await restoreWorld(reader, root);
        for (const problem of isWhole(world)) problems.push(`root ${root}: ${problem}`);
      });
    }
    let expected = head.generation;
    for await (const { hash, generation, root } of readHistory(reader, head.publication)) {
      if (generation !== expected) problems.push(`publication ${hash} has generation ${generation}, not ${expected}`);
      expected = generation - 1;
      blobs.add(hash);
      roots.add(root);
      result.publications += 1;
      if (result.publications >= keepPublications) return;
    }
    if (expected !== 0) problems.push(`the history ends at generation ${expected + 1}`);
  });
  for (const root of roots) {
    await attempt(`root ${root}`, async () => {
      for (const hash of await reachableFrom(reader, root)) blobs.add(hash);
    });
  }
  for (const hash of blobs) {
    await attempt(`blob ${hash}`, async () => {
      const found = await store.get(blobKey(hash));
      if (found.kind !== "found") problems.push(`blob ${hash} is missing`);
      else if (hashOf(found.bytes) !== hash) problems.push(`blob ${hash} holds other bytes than its name says`);
    });
  }
  return { ...result, roots: roots.size, blobs: blobs.size, problems };
}
