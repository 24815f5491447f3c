import { PortolanError } from "../config/diagnostic.ts";
import { inParallel } from "../storage/in-parallel.ts";
import type { ObjectStore } from "../storage/object-store.ts";
import { blobKey } from "./blob.ts";
import type { EncodedWorld } from "./encode-world.ts";
import { rescue } from "./gc-ledger.ts";

/** How much was written. */
export interface Written {
  readonly objects: number;
  readonly bytes: number;
}

/** Blobs that need not be written. */
export interface InPlace {
  /** Named by HEAD, and so safe from being collected. */
  readonly there: ReadonlySet<string>;
  /** In the store, but perhaps about to be collected. */
  readonly found: ReadonlySet<string>;
}

/**
 * Writes what is not in place yet: content first, roots last. What turns out to be in the store already is kept from being
 * collected.
 *
 * @throws PortolanError when something that was found was collected meanwhile, and none of the worlds has it
 */
export async function writeBlobs(
  store: ObjectStore,
  worlds: readonly EncodedWorld[],
  { there, found: relied }: InPlace,
): Promise<Written> {
  const missing = new Map<string, () => Uint8Array<ArrayBuffer>>();
  for (const { hash, make } of worlds.flatMap((world) => [...world.blobs()])) {
    if (!there.has(hash)) missing.set(hash, make);
  }
  for (const { rootBlob } of worlds) if (!there.has(rootBlob.hash)) missing.set(rootBlob.hash, () => rootBlob.bytes);
  const isRoot = new Set(worlds.map(({ rootBlob }) => rootBlob.hash));
  const content = [...missing.keys()].filter((hash) => !isRoot.has(hash));
  const roots = [...missing.keys()].filter((hash) => isRoot.has(hash));

  const found = new Set(relied);
  let objects = 0;
  let bytes = 0;
  const write = async (hash: string) => {
    const blob = missing.get(hash)?.();
    if (blob === undefined) throw new PortolanError(`the store has lost blob ${hash}: it was collected meanwhile`);
    const put = await store.put(blobKey(hash), blob, { ifNoneMatch: "*" });
    if (put.kind === "lost") {
      found.add(hash);
      return;
    }
    objects += 1;
    bytes += blob.length;
  };
  await inParallel(content, write);
  for (const hash of roots) await write(hash);
  if (found.size > 0) await inParallel(await rescue(store, found), write);
  return { objects, bytes };
}
