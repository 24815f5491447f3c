import { blobKey } from "../base/blob.ts";
import { PortolanError } from "../base/diagnostic.ts";
import { inParallel } from "../storage/in-parallel.ts";
import type { ObjectStore, Together } from "../storage/object-store.ts";
import { type BlobGroup, blobsBeside, blobsIn, type NamedGroup } from "./blob-groups.ts";
import { type BlobCheck, isWhole } from "./upkeep/blob-check.ts";
import { retainBlobs } from "./upkeep/gc-ledger.ts";
import type { EncodedWorld } from "./worlds/encode-world.ts";

/** How much was written. */
export interface Written {
  readonly objects: number;
  readonly bytes: number;
  /** How many of the objects should have been in the store, and were not, or were not what they should be. */
  readonly mended: number;
}

/** Blobs that need not be written. */
export interface InPlace {
  /** Named by HEAD, and so safe from being collected. */
  readonly there: readonly NamedGroup[];
  /** In the store, but perhaps about to be collected. */
  readonly found: readonly NamedGroup[];
  /** Written already for this very publish, by whoever made a part of it, but perhaps about to be collected; absent: none. */
  readonly prewritten?: ReadonlySet<string>;
}

/**
 * Writes what is not in place yet: content first, roots last and whatever is to be written `beside` them. What turns out to
 * be in the store already is kept from being collected; what should be there, and is missing or damaged, is written again.
 *
 * @throws PortolanError when something that was found was collected meanwhile, and none of the worlds has it
 */
export async function writeBlobs(
  store: ObjectStore,
  check: BlobCheck,
  worlds: readonly EncodedWorld[],
  { there, found: relied, prewritten = new Set() }: InPlace,
  beside: () => Promise<void> = async () => {},
): Promise<Written> {
  const blobs = blobsBeside(worlds, there);
  const roots = new Set(worlds.map(({ rootBlob }) => rootBlob.hash));
  const found = new Set([...blobsIn(relied).keys(), ...[...blobs.keys()].filter((hash) => prewritten.has(hash))]);
  let objects = 0;
  let bytes = 0;
  const content = store.together?.();
  const write = async (hash: string, together?: Together) => {
    const blob = (blobs.get(hash) ?? blobsIn(worlds).get(hash))?.make();
    if (blob === undefined) {
      // Where the ledger of collections is damaged, whatever is relied on counts as deleted; it may well be there.
      if (await isWhole(store, hash)) return;
      throw new PortolanError(`the store has lost blob ${hash}: it was collected meanwhile`);
    }
    const put = await store.put(blobKey(hash), blob, { ifNoneMatch: "*", together });
    if (put.kind === "lost") {
      found.add(hash);
      return;
    }
    objects += 1;
    bytes += blob.length;
    check.written([hash]);
  };
  // In the order of their names: a store of folders then writes many into one at a time.
  const missing = [...blobs.keys()].filter((hash) => !prewritten.has(hash)).sort();
  await inParallel(
    missing.filter((hash) => !roots.has(hash)),
    (hash) => write(hash, content),
  );
  await content?.kept();
  const missingRoots = missing.filter((hash) => roots.has(hash));
  const keep = async (names: ReadonlySet<string>): Promise<void> => {
    if (names.size > 0) await inParallel(await retainBlobs(store, names), (hash) => write(hash));
  };
  const inPlace = new Set(found);
  found.clear();
  await Promise.all([inParallel(missingRoots, (hash) => write(hash)), beside(), keep(inPlace)]);
  await keep(new Set(found));
  const mended = await repairBlobs(store, check, worlds);
  return { objects: objects + mended.objects, bytes: bytes + mended.bytes, mended: mended.objects };
}

/** Writes anew what should be in the store and is missing or damaged. */
export async function repairBlobs(
  store: ObjectStore,
  check: BlobCheck,
  groups: readonly BlobGroup[],
): Promise<Pick<Written, "objects" | "bytes">> {
  const sizes = await inParallel(await check.broken(groups), async ({ hash, make }) => {
    const bytes = make();
    // Whatever lies there, it is not what its name says.
    await store.put(blobKey(hash), bytes);
    check.written([hash]);
    return bytes.length;
  });
  return { objects: sizes.length, bytes: sizes.reduce((sum, size) => sum + size, 0) };
}
