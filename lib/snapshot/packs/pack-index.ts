import type { ObjectStore } from "../../storage/object-store.ts";

/** Which blobs lie in which pack. */
export interface PackIndex {
  readonly format: 1;
  /** Of HEAD when it was written. */
  readonly generation: number;
  readonly packs: readonly Pack[];
}

/** Blobs that lie one after the other in one object, so that they are read with one request. */
export interface Pack {
  /** Hash of the names of its blobs. */
  readonly name: string;
  readonly blobs: readonly PackedBlob[];
  /** A reader of it reads the next one in the index, too. */
  readonly leadsOn?: true;
}

/** The first characters of its hash, and its bytes. */
export type PackedBlob = readonly [start: string, bytes: number];

export const packsFolder = "packs/";

export const packIndexKey = `${packsFolder}index`;

/** @param name of a pack */
export const packKey = (name: string): string => `${packsFolder}${name}`;

/** The pack that lies under a key; undefined for a key of something else. */
export const packOfKey = (key: string): string | undefined => /^packs\/([0-9a-f]{64})$/.exec(key)?.[1];

/** So much of a hash tells the blobs of one snapshot apart. A reader checks all of it. */
export const startOfHash = (hash: string): string => hash.slice(0, 16);

export const noPacks: PackIndex = { format: 1, generation: 0, packs: [] };

/** Some 300,000 blobs. */
const maxIndexBytes = 8 * 1024 * 1024;

/**
 * Packs save requests and decide nothing, so an index that cannot be read is as good as none.
 *
 * @throws PortolanError when the store fails
 */
export async function readPackIndex(store: Pick<ObjectStore, "get">): Promise<PackIndex> {
  const found = await store.get(packIndexKey);
  if (found.kind !== "found" || found.bytes.length > maxIndexBytes) return noPacks;
  try {
    const read: unknown = JSON.parse(new TextDecoder().decode(found.bytes));
    return isPackIndex(read) ? read : noPacks;
  } catch {
    return noPacks;
  }
}

/** Leaves an index that would be too long unwritten. */
export async function writePackIndex(store: Pick<ObjectStore, "put">, index: PackIndex): Promise<void> {
  const bytes = new TextEncoder().encode(JSON.stringify(index));
  if (bytes.length <= maxIndexBytes) await store.put(packIndexKey, bytes);
}

function isPackIndex(read: unknown): read is PackIndex {
  const { format, generation, packs }: Partial<Record<keyof PackIndex, unknown>> = Object(read);
  return format === 1 && typeof generation === "number" && Array.isArray(packs) && packs.every(isPack);
}

function isPack(read: unknown): read is Pack {
  const { name, blobs }: Partial<Record<keyof Pack, unknown>> = Object(read);
  return typeof name === "string" && /^[0-9a-f]{64}$/.test(name) && Array.isArray(blobs) && blobs.every(isPackedBlob);
}

const isPackedBlob = (read: unknown): read is PackedBlob =>
  Array.isArray(read) && typeof read[0] === "string" && Number.isSafeInteger(read[1]) && read[1] >= 0;
