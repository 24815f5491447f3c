import { PortolanError } from "../base/diagnostic.ts";
import { readRoot } from "./format.ts";
import type { BlobSource } from "./reader/blobs.ts";
import { createSnapshotReader } from "./reader/snapshot-reader.ts";
import type { StoredRoot } from "./root.ts";

/**
 * A root as its blob has it. Nothing that it names is read.
 *
 * @returns undefined where the store has no such blob, or a damaged one
 * @throws PortolanError for a blob that is no root, or one of a format that this version does not read
 */
export async function storedRootIfWhole(store: BlobSource, hash: string): Promise<StoredRoot | undefined> {
  const text = await createSnapshotReader(store).textIfWhole(hash);
  return text === undefined ? undefined : readRoot(hash, text);
}

/** The same. @throws PortolanError also where there is none */
export async function storedRoot(store: BlobSource, hash: string): Promise<StoredRoot> {
  const root = await storedRootIfWhole(store, hash);
  if (root === undefined) throw new PortolanError(`the store has no root ${hash.slice(0, 12)}, or a damaged one`);
  return root;
}
