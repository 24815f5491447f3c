import { blobFolder, blobKey, hashOf, type LazyBlob } from "../../base/blob.ts";
import { inParallel } from "../../storage/in-parallel.ts";
import type { ObjectStore } from "../../storage/object-store.ts";
import { vouchedFor } from "../../storage/vouched-for.ts";
import type { BlobGroup } from "../blob-groups.ts";

/** Looks whether blobs that should be in the store are there, and are what they should be. */
export interface BlobCheck {
  /** Which of these are not; those that were looked at not long ago are taken for good. */
  broken(groups: readonly BlobGroup[]): Promise<readonly LazyBlob[]>;
  /** Takes note of blobs that were just written. */
  written(hashes: Iterable<string>): void;
}

/** How long a look at a blob is good for. */
const goodForMs = 600_000;

/** More would be the blobs of meshes that are served no more. */
const maxRemembered = 200_000;

export function createBlobCheck(store: ObjectStore): BlobCheck {
  let good = new Set<string>();
  /** What was asked about as a whole, groups within it too, and is good. */
  let goodGroups = new WeakSet<BlobGroup>();
  let sinceMs = performance.now();
  return {
    async broken(groups) {
      if (performance.now() - sinceMs > goodForMs || good.size > maxRemembered) {
        good = new Set();
        goodGroups = new WeakSet();
        sinceMs = performance.now();
      }
      const asked = new Set<BlobGroup>();
      addWithin(groups, goodGroups, asked);
      const blobs = Array.from(asked, (group) => group.blobs).flat();
      const unknown = new Map(blobs.filter(({ hash }) => !good.has(hash)).map((blob) => [blob.hash, blob]));
      const suspects = await notVouchedFor(store, [...unknown.values()]);
      const looked = await inParallel(suspects, async (blob) => ((await isWhole(store, blob.hash)) ? [] : [blob]));
      const broken = looked.flat();
      for (const { hash } of broken) unknown.delete(hash);
      for (const hash of unknown.keys()) good.add(hash);
      if (broken.length === 0) for (const group of asked) goodGroups.add(group);
      return broken;
    },
    written(hashes) {
      for (const hash of hashes) good.add(hash);
    },
  };
}

/** Adds groups and those within them, but for the good ones. Tables of all namespaces have most in common. */
function addWithin(groups: readonly BlobGroup[], good: WeakSet<BlobGroup>, found: Set<BlobGroup>): void {
  for (const group of groups) {
    if (good.has(group) || found.has(group)) continue;
    found.add(group);
    addWithin(group.groups, good, found);
  }
}

/** Those for which the store's list does not vouch; all of them where it vouches for none. A list costs less than reading. */
async function notVouchedFor(store: ObjectStore, blobs: readonly LazyBlob[]): Promise<readonly LazyBlob[]> {
  if (blobs.length === 0) return [];
  const byKey = new Map(blobs.map((blob) => [blobKey(blob.hash), blob]));
  const whole = await vouchedFor(store, blobFolder, (key) => byKey.get(key)?.make());
  return blobs.filter(({ hash }) => !whole.has(blobKey(hash)));
}

/** Whether the store has a blob, and it is what its name says. */
export async function isWhole(store: ObjectStore, hash: string): Promise<boolean> {
  const found = await store.get(blobKey(hash));
  return found.kind === "found" && hashOf(found.bytes) === hash;
}
