import { createHash } from "node:crypto";
import { inParallel } from "../../storage/in-parallel.ts";
import type { ObjectStore } from "../../storage/object-store.ts";
import { blobKey, hashOf } from "../blob.ts";

/** Bytes of blobs by their hashes, made when they are asked for. */
export type BlobMakers = ReadonlyMap<string, () => Uint8Array<ArrayBuffer>>;

/** Looks whether blobs that should be in the store are there, and are what they should be. */
export interface BlobCheck {
  /** Which of these are not; those that were looked at not long ago are taken for good. */
  broken(blobs: BlobMakers): Promise<ReadonlySet<string>>;
  /** Takes note of blobs that were just written. */
  written(hashes: Iterable<string>): void;
}

/** How long a look at a blob is good for. */
const goodForMs = 600_000;

/** More would be the blobs of meshes that are served no more. */
const maxRemembered = 200_000;

export function createBlobCheck(store: ObjectStore): BlobCheck {
  let good = new Set<string>();
  let sinceMs = performance.now();
  return {
    async broken(blobs) {
      if (performance.now() - sinceMs > goodForMs || good.size > maxRemembered) {
        good = new Set();
        sinceMs = performance.now();
      }
      const unknown = new Map([...blobs].filter(([hash]) => !good.has(hash)));
      const suspects = await notVouchedFor(store, unknown);
      const looked = await inParallel(suspects, async (hash) => ((await isWhole(store, hash)) ? [] : [hash]));
      const broken = new Set(looked.flat());
      for (const hash of unknown.keys()) if (!broken.has(hash)) good.add(hash);
      return broken;
    },
    written(hashes) {
      for (const hash of hashes) good.add(hash);
    },
  };
}

/** Those for which the store's list does not vouch; all of them where it vouches for none. A list costs less than reading. */
async function notVouchedFor(store: ObjectStore, blobs: BlobMakers): Promise<readonly string[]> {
  if (blobs.size === 0) return [];
  const listed = new Map<string, string>();
  for await (const { key, md5 } of store.list("blobs/")) {
    if (md5 === undefined) return [...blobs.keys()];
    listed.set(key, md5);
  }
  return [...blobs].flatMap(([hash, make]) => (listed.get(blobKey(hash)) === md5Of(make()) ? [] : [hash]));
}

const md5Of = (bytes: Uint8Array): string => createHash("md5").update(bytes).digest("hex");

async function isWhole(store: ObjectStore, hash: string): Promise<boolean> {
  const found = await store.get(blobKey(hash));
  return found.kind === "found" && hashOf(found.bytes) === hash;
}
