import { type Blob, blobFolder, blobKey } from "../base/blob.ts";
import { listHashed } from "../storage/list-hashed.ts";
import type { ObjectStore } from "../storage/object-store.ts";

/** Writes blobs of a world while the rest of it is still being compiled. Nothing names them until the world is published. */
export interface Prewrite {
  /** Returns at once. */
  write(blobs: readonly Blob[]): void;
  /** No more blobs follow. Resolves when all writes are done; never rejects: a failed write is left out of the result. */
  end(): Promise<Prewritten>;
}

/** Blobs that this process has added to the store. */
export interface Prewritten {
  /** Hashes of the blobs. */
  readonly blobs: ReadonlySet<string>;
  readonly bytes: number;
}

/**
 * The prewritten blobs that the store still has: its folder may be deleted in the seconds between prewrite and publish.
 *
 * @returns an empty set if the store cannot be listed; never rejects
 */
export async function stillThere(store: ObjectStore, prewritten: ReadonlySet<string>): Promise<ReadonlySet<string>> {
  const there = new Set<string>();
  if (prewritten.size === 0) return there;
  try {
    await listHashed(store, blobFolder, ({ key }) => there.add(key));
  } catch {
    // The publish writes them again and reports why that fails.
    return new Set();
  }
  return new Set([...prewritten].filter((hash) => there.has(blobKey(hash))));
}
