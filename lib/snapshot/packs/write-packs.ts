import { inParallel } from "../../storage/in-parallel.ts";
import type { ObjectStore } from "../../storage/object-store.ts";
import { blobKey, concatBytes, hashOf } from "../blob.ts";
import { createSnapshotReader } from "../snapshot-reader.ts";
import { type PackedBlob, packKey, readPackIndex, startOfHash, writePackIndex } from "./pack-index.ts";
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
 * reader that starts cold would ask for hundreds of blobs.
 *
 * @returns how many packs were written; undefined where it is too early
 */
export async function packWhenDue(store: ObjectStore, { version, generation }: Packable): Promise<number | undefined> {
  const before = await readPackIndex(store);
  const isEarly = generation >= before.generation && generation - before.generation < publishesBetween;
  if (before.packs.length > 0 && isEarly) return undefined;
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
