import { beforeEach, describe, expect, it } from "vitest";
import { cachedObjects, type ObjectCache } from "../../../lib/snapshot/packs/cached-objects.ts";
import { packIndexKey, packsFolder } from "../../../lib/snapshot/packs/pack-index.ts";
import { packedBlobs } from "../../../lib/snapshot/packs/packed-blobs.ts";
import { createPacker } from "../../../lib/snapshot/packs/write-packs.ts";
import { createPublisher } from "../../../lib/snapshot/publish.ts";
import { createSnapshotReader } from "../../../lib/snapshot/reader/snapshot-reader.ts";
import { memoryStore } from "../../../lib/storage/memory.ts";
import type { ObjectStore } from "../../../lib/storage/object-store.ts";
import { worldOf } from "../worlds.ts";

/** A cache as a Worker has one, whose content a test may change. */
function memoryCache() {
  const kept = new Map<string, { readonly bytes: Uint8Array<ArrayBuffer>; readonly headers: Headers }>();
  const cache: ObjectCache = {
    async match(url) {
      const found = kept.get(url);
      return found && new Response(found.bytes, { headers: found.headers });
    },
    async put(url, response) {
      kept.set(url, { bytes: new Uint8Array(await response.arrayBuffer()), headers: response.headers });
    },
  };
  return { cache, kept };
}

const clusters = Object.fromEntries(
  Array.from({ length: 500 }, (_, i) => [`cluster-${i}`, `${i} `.padEnd(1_000, "x")] as const),
);

let store: ObjectStore;
let root: string;

beforeEach(async () => {
  store = memoryStore();
  const publisher = createPublisher(store);
  const result = await publisher.publish(worldOf({ web: { clusters } }), await publisher.head());
  if (result.kind === "lost") throw new Error("there is no other publisher");
  root = result.root;
  await createPacker(store)({ version: root, generation: result.head.generation });
});

/** All clusters, read as by a front that starts cold. @returns their text, and the keys that the store was asked for */
async function coldRead(cache: ObjectCache, scope = "") {
  const keys: string[] = [];
  const writes: Promise<unknown>[] = [];
  const watched: ObjectStore = {
    ...store,
    get(key, condition) {
      keys.push(key);
      return store.get(key, condition);
    },
  };
  const reader = createSnapshotReader(
    packedBlobs(cachedObjects(watched, cache, { scope, goesOn: (write) => writes.push(write) })),
  );
  const loaded = await reader.root(root);
  const { segments } = await reader.tree(loaded.root, "clusters", loaded.classes.get("web")?.poll.clusters);
  const texts: string[] = [];
  for (const segment of segments)
    for await (const bytes of reader.texts(segment)) texts.push(new TextDecoder().decode(bytes));
  await Promise.all(writes);
  return { text: texts.join(","), keys };
}

describe("blobs and packs in a cache", () => {
  it("spare the next front all reads but that of the index of packs", async () => {
    const { cache } = memoryCache();
    const first = await coldRead(cache);
    expect(first.keys.length).toBeGreaterThan(5);
    expect(first.keys.some((key) => key.startsWith(packsFolder) && key !== packIndexKey)).toBe(true);
    const second = await coldRead(cache);
    expect(second.keys).toEqual([packIndexKey]);
    expect(second.text).toBe(first.text);
  });

  it("are read from the store where the cache has something else, or nothing, or fails, or falls silent", async () => {
    const { cache, kept } = memoryCache();
    const { text, keys } = await coldRead(cache);
    // As it keeps what a write was ended of.
    for (const [url, { bytes, headers }] of kept) kept.set(url, { bytes: bytes.slice(0, bytes.length / 2), headers });
    expect(await coldRead(cache)).toEqual({ text, keys });
    expect((await coldRead(cache)).keys).toEqual([packIndexKey]);
    kept.clear();
    expect(await coldRead(cache)).toEqual({ text, keys });
    const failing: ObjectCache = {
      match: async () => Promise.reject(new Error("no cache")),
      put: async () => Promise.reject(new Error("no cache")),
    };
    expect(await coldRead(failing)).toEqual({ text, keys });
    const silent: ObjectCache = { match: () => new Promise(() => {}), put: async () => {} };
    expect(await coldRead(silent)).toEqual({ text, keys });
  });

  it("are not found by a front of another store that shares the cache", async () => {
    const { cache } = memoryCache();
    const { keys } = await coldRead(cache, "one/");
    expect((await coldRead(cache, "other/")).keys).toEqual(keys);
  });

  it("leave everything whose key is no hash, and reads with a condition, to the store", async () => {
    const { cache, kept } = memoryCache();
    const cached = cachedObjects(store, cache, { scope: "" });
    const head = await cached.get("HEAD");
    await cached.get(packIndexKey);
    expect(kept.size).toBe(0);
    if (head.kind !== "found") throw new Error("there is a HEAD");
    expect(await cached.get("HEAD", { ifNoneMatch: head.etag })).toEqual({ kind: "unchanged" });
    const next = new TextEncoder().encode("{}");
    await store.put("HEAD", next);
    expect(await cached.get("HEAD")).toMatchObject({ kind: "found", bytes: next });
  });
});
