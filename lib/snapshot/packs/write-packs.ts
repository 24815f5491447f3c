import { blobKey, concatBytes, hashOf } from "../../base/blob.ts";
import { inParallel } from "../../storage/in-parallel.ts";
import type { ObjectStore } from "../../storage/object-store.ts";
import { createSnapshotReader } from "../reader/snapshot-reader.ts";
import { type PackedBlob, type PackIndex, packKey, readPackIndex, startOfHash, writePackIndex } from "./pack-index.ts";
import { packedBlobs } from "./packed-blobs.ts";
import { planPacks } from "./plan-packs.ts";

/** A published root. */
export interface Packable {
  readonly version: string;
  readonly generation: number;
}

/** After so many publishes most blobs of a snapshot are still in packs. */
const publishesBetween = 8;

/** Of lists, which are read once. */
const readerBytes = 4 * 1024 * 1024;

/**
 * Writes packs of what a root names, where those that are there were written some publishes ago. For stores behind a wire, where a
 * reader that starts cold would ask for hundreds of blobs. Between, nothing is read.
 *
 * @returns a function to be called with each published root, which returns how many packs were written; undefined where it is too early
 */
export function createPacker(store: ObjectStore): (published: Packable) => Promise<number | undefined> {
  /** Of the newest index that was read or written here, if it lists packs. */
  let packed: number | undefined;
  const isEarly = (generation: number) =>
    packed !== undefined && generation >= packed && generation - packed < publishesBetween;
  return async (published) => {
    if (isEarly(published.generation)) return undefined;
    const before = await readPackIndex(store);
    packed = before.packs.length === 0 ? undefined : before.generation;
    if (isEarly(published.generation)) return undefined;
    const written = await writePacks(store, published, before);
    packed = published.generation;
    return written;
  };
}

/** @returns how many packs were written */
async function writePacks(store: ObjectStore, { version, generation }: Packable, before: PackIndex): Promise<number> {
  const reader = createSnapshotReader(packedBlobs(store), readerBytes);
  const { root } = await reader.root(version);
  const known = new Map(before.packs.map((pack) => [pack.name, pack]));
  let written = 0;
  const packs = await inParallel(await planPacks(reader, root), async ({ hashes, leadsOn }) => {
    const name = hashOf(hashes.join("\n"));
    const there = known.get(name)?.blobs;
    if (there === undefined) written += 1;
    const blobs = there ?? (await writePack(store, name, hashes));
    return blobs && { name, blobs, ...(leadsOn ? { leadsOn } : {}) };
  });
  await writePackIndex(store, { format: 1, generation, packs: packs.filter((pack) => pack !== undefined) });
  return written;
}

/** @returns undefined where one of the blobs is missing */
async function writePack(
  store: ObjectStore,
  name: string,
  hashes: readonly string[],
): Promise<readonly PackedBlob[] | undefined> {
  const found = await Promise.all(hashes.map((hash) => store.get(blobKey(hash))));
  const parts = found.flatMap((one) => (one.kind === "found" ? [one.bytes] : []));
  if (parts.length < hashes.length) return undefined;
  await store.put(packKey(name), concatBytes(parts));
  return hashes.map((hash, at) => [startOfHash(hash), parts[at]?.length ?? 0] as const);
}
