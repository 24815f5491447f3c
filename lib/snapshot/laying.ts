import { type Blob, blobFolder, blobKey } from "../base/blob.ts";
import { listHashed } from "../storage/list-hashed.ts";
import type { ObjectStore } from "../storage/object-store.ts";

/** Writes blobs of a world while the rest of it is being made. Nothing names them until the world is published. */
export interface Laying {
  /** Returns at once. */
  lay(blobs: readonly Blob[]): void;
  /** Nothing more comes. Resolves when all is done, and never rejects: what could not be written was not laid. */
  end(): Promise<Laid>;
}

/** What was not in the store, and is now. */
export interface Laid {
  /** Hashes of the blobs. */
  readonly blobs: ReadonlySet<string>;
  readonly bytes: number;
}

/**
 * Those of some blobs that the store still has: seconds may lie between writing and publishing, in which its folder may be taken away.
 *
 * @returns none where the store does not say; never rejects
 */
export async function stillThere(store: ObjectStore, laid: ReadonlySet<string>): Promise<ReadonlySet<string>> {
  const there = new Set<string>();
  if (laid.size === 0) return there;
  try {
    await listHashed(store, blobFolder, ({ key }) => there.add(key));
  } catch {
    // Then they are written again by whoever publishes, who says why that fails.
    return new Set();
  }
  return new Set([...laid].filter((hash) => there.has(blobKey(hash))));
}
