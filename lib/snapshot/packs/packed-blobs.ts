import { blobOfKey, hashOf } from "../../base/blob.ts";
import type { BlobSource } from "../reader/blobs.ts";
import { createLoadCache } from "../worlds/load-cache.ts";
import { noPacks, type PackIndex, packKey, readPackIndex, startOfHash } from "./pack-index.ts";

/** Where a blob lies. */
interface Place {
  readonly pack: string;
  readonly offset: number;
  readonly bytes: number;
  /** Packs that are read with this one. */
  readonly ahead: readonly string[];
}

/** So many packs are read ahead: with the one that is asked for, nearly as many as a Worker may have connections. */
const packsAhead = 4;

/** After so many blobs that are in no pack there may be a newer index. */
const missesBeforeNews = 256;

/** Of packs that were read and that more blobs are asked from. */
const usualMaxBytes = 4 * 1024 * 1024;

/**
 * Reads blobs out of packs where they lie in one, and by themselves where not: also where a pack is missing or holds something else.
 *
 * @param store where nothing else than blobs is asked for through packs
 */
export function packedBlobs(store: BlobSource, maxBytes = usualMaxBytes): BlobSource {
  /** Indexes by the number of their reading; one is kept. */
  const indexes = createLoadCache<number, ReadonlyMap<string, Place>>({
    nameOf: String,
    maxBytes: 0,
    keepsLatest: true,
    load: async () => placesIn(await readPackIndex(store).catch(() => noPacks)),
    sizeOf: () => 1,
  });
  const packs = createLoadCache<string, Uint8Array<ArrayBuffer> | undefined>({
    nameOf: (name) => name,
    maxBytes,
    load: async (name) => {
      const found = await store.get(packKey(name));
      return found.kind === "found" ? found.bytes : undefined;
    },
    sizeOf: (bytes) => bytes?.length ?? 100,
  });
  let reading = 0;
  let misses = 0;
  let isAsked = false;

  async function packOf({ pack, ahead }: Place): Promise<Uint8Array<ArrayBuffer> | undefined> {
    const loaded = packs.loaded(pack);
    if (loaded !== undefined) return loaded;
    const [asked] = [pack, ...ahead].map((name) => packs.get(name).catch(() => undefined));
    return asked;
  }

  /** @returns undefined where it is in no pack */
  async function fromPack(hash: string): Promise<Uint8Array<ArrayBuffer> | undefined> {
    const place = (await indexes.get(reading)).get(startOfHash(hash));
    const pack = place && (await packOf(place));
    // A copy: what is kept of it does not keep the whole pack.
    const bytes = pack?.slice(place?.offset, (place?.offset ?? 0) + (place?.bytes ?? 0));
    if (bytes !== undefined && hashOf(bytes) === hash) return bytes;
    misses += 1;
    if (misses < missesBeforeNews) return undefined;
    misses = 0;
    reading += 1;
    return undefined;
  }

  return {
    async get(key, condition) {
      const hash = condition === undefined ? blobOfKey(key) : undefined;
      if (hash === undefined) return store.get(key, condition);
      if (!isAsked) {
        isAsked = true;
        // The first that is asked for is a root, which is in no pack: it need not wait.
        indexes.get(reading).catch(() => {});
        return store.get(key);
      }
      const bytes = await fromPack(hash);
      return bytes === undefined ? store.get(key) : { kind: "found", bytes, etag: hash };
    },
  };
}

function placesIn({ packs }: PackIndex): ReadonlyMap<string, Place> {
  const places = new Map<string, Place>();
  for (const [at, { name, blobs }] of packs.entries()) {
    const following = packs.slice(at, at + packsAhead);
    const end = following.findIndex(({ leadsOn }) => leadsOn !== true);
    const ahead = packs.slice(at + 1, at + 1 + (end === -1 ? packsAhead : end)).map((next) => next.name);
    let offset = 0;
    for (const [start, bytes] of blobs) {
      places.set(start, { pack: name, offset, bytes, ahead });
      offset += bytes;
    }
  }
  return places;
}
