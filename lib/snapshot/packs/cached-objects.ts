import { blobOfKey, hashOf } from "../../base/blob.ts";
import type { FoundObject, ObjectStore } from "../../storage/object-store.ts";
import { settledWithin } from "../worlds/load-cache.ts";
import { packOfKey } from "./pack-index.ts";

/** What of the Cache API is used. */
export interface ObjectCache {
  match(url: string): Promise<Pick<Response, "arrayBuffer" | "headers"> | undefined>;
  put(url: string, response: Response): Promise<unknown>;
}

/** Larger objects are read from the store each time. */
const maxBytes = 8 * 1024 * 1024;

/** A cache that takes longer is passed by. */
const patienceMs = 500;

/** An object that a collection of garbage has deleted may be read here for so long. */
const maxAgeSeconds = 24 * 3_600;

/** Has the hash of a pack's bytes, whose name is that of something else. */
const hashHeader = "x-sha256";

interface CacheOptions {
  /** Tells apart stores that share the cache. */
  readonly scope: string;
  /** Lets a write to the cache go on when the request that it belongs to is answered; absent: it may be lost then. */
  readonly goesOn?: (write: Promise<unknown>) => void;
}

/**
 * A store whose blobs and packs are kept in a cache that several processes share, such as that of a place where Workers run. Their keys
 * are hashes, so they never change. Every other object, and every read with a condition, goes to the store.
 *
 * What the cache has is compared with its hash, and read from the store where it differs: a cache may have kept a part of it. A cache that
 * fails, or does not answer within half a second, is as good as an empty one.
 */
export function cachedObjects(store: ObjectStore, cache: ObjectCache, { scope, goesOn }: CacheOptions): ObjectStore {
  const folder = `https://portolan.invalid/objects/${hashOf(scope)}/`;
  const keep = (key: string, bytes: Uint8Array<ArrayBuffer>): void => {
    const headers = { "cache-control": `max-age=${maxAgeSeconds}`, [hashHeader]: hashOf(bytes) };
    const write = cache.put(folder + key, new Response(bytes, { headers })).catch(() => {});
    goesOn?.(write);
  };
  const cached = async (key: string): Promise<FoundObject | undefined> => {
    const kept = await cache.match(folder + key);
    if (kept === undefined) return undefined;
    const bytes = new Uint8Array(await kept.arrayBuffer());
    const hash = hashOf(bytes);
    return hash === (blobOfKey(key) ?? kept.headers.get(hashHeader)) ? { kind: "found", bytes, etag: hash } : undefined;
  };
  return {
    ...store,
    async get(key, condition) {
      const isFixed = blobOfKey(key) !== undefined || packOfKey(key) !== undefined;
      if (condition !== undefined || !isFixed) return store.get(key, condition);
      const looked = cached(key).catch(() => undefined);
      const kept = (await settledWithin(looked, patienceMs)) ? await looked : undefined;
      if (kept !== undefined) return kept;
      const found = await store.get(key);
      if (found.kind === "found" && found.bytes.length <= maxBytes) keep(key, found.bytes);
      return found;
    },
  };
}
