import { describe, expect, it } from "vitest";
import { blobKey, blobOfKey } from "../../../lib/base/blob.ts";
import { loadInOrder } from "../../../lib/snapshot/long/read-long.ts";
import { packIndexKey, packsFolder, readPackIndex } from "../../../lib/snapshot/packs/pack-index.ts";
import { packedBlobs } from "../../../lib/snapshot/packs/packed-blobs.ts";
import { createPacker } from "../../../lib/snapshot/packs/write-packs.ts";
import { createPublisher } from "../../../lib/snapshot/publish.ts";
import type { BlobSource } from "../../../lib/snapshot/reader/blobs.ts";
import { createSnapshotReader, type SnapshotReader } from "../../../lib/snapshot/reader/snapshot-reader.ts";
import type { SegmentRef } from "../../../lib/snapshot/root.ts";
import { collectGarbage } from "../../../lib/snapshot/upkeep/collect-garbage.ts";
import { collectables } from "../../../lib/snapshot/upkeep/collectables.ts";
import { memoryStore } from "../../../lib/storage/memory.ts";
import type { ObjectStore } from "../../../lib/storage/object-store.ts";
import { slowStore, untilQuiet } from "../../bench/slow-store.ts";
import { worldOf } from "../worlds.ts";

/** Clusters of about 1 KiB, of which one says what it is told. */
const clusters = (count: number, said: string) =>
  Object.fromEntries(
    Array.from({ length: count }, (_, i) => [`cluster-${i}`, i === 7 ? said : `${i} `.padEnd(1_000, "x")] as const),
  );

const size = 4_000;

/** Publishes a world of two classes that share their clusters. */
async function publish(store: ObjectStore, said: string) {
  const publisher = createPublisher(store);
  const list = clusters(size, said);
  const world = worldOf({ a: { clusters: list }, b: { clusters: { ...list, own: "b" } } });
  const result = await publisher.publish(world, await publisher.head());
  if (result.kind === "lost") throw new Error("nobody else publishes");
  return { version: result.root, generation: result.head.generation };
}

/** The clusters of class a, as a front reads them. */
async function read(store: BlobSource, root: string): Promise<string> {
  const reader = createSnapshotReader(store);
  const loaded = await reader.root(root);
  const tree = await reader.tree(loaded.root, "clusters", loaded.classes.get("a")?.poll.clusters);
  const texts: string[] = [];
  for await (const text of loadInOrder(tree.parts, ({ segment }) => textOf(reader, segment))) texts.push(text);
  return texts.join(",");
}

async function textOf(reader: SnapshotReader, segment: SegmentRef): Promise<string> {
  const texts: string[] = [];
  for await (const bytes of reader.texts(segment)) texts.push(new TextDecoder().decode(bytes));
  return texts.join("");
}

/** What a reader asks a store for. */
function watched(store: BlobSource) {
  const keys: string[] = [];
  const source: BlobSource = {
    get(key, condition) {
      keys.push(key);
      return store.get(key, condition);
    },
  };
  return { source, keys, count: (folder: string) => keys.filter((key) => key.startsWith(folder)).length };
}

async function packed(): Promise<{ readonly store: ObjectStore; readonly version: string; readonly whole: string }> {
  const store = memoryStore();
  const root = await publish(store, "first");
  expect(await createPacker(store)(root)).toBeGreaterThan(5);
  return { store, version: root.version, whole: await read(store, root.version) };
}

const packsOf = async (store: ObjectStore) => (await readPackIndex(store)).packs.map(({ name }) => packsFolder + name);

describe("packs", () => {
  it("give a reader the same bytes with a tenth of the requests", async () => {
    const { store, version, whole } = await packed();
    const [loose, throughPacks] = [watched(store), watched(store)];
    expect(await read(loose.source, version)).toBe(whole);
    expect(await read(packedBlobs(throughPacks.source), version)).toBe(whole);
    expect(whole.length).toBeGreaterThan(size * 1_000);
    expect(throughPacks.keys.length).toBeLessThan(loose.keys.length / 5);
    expect(throughPacks.count(packIndexKey)).toBe(1);
  });

  it("take a reader that starts cold, six requests at a time, at most twelve rounds", async () => {
    const { store, version, whole } = await packed();
    const slow = slowStore(store, untilQuiet(), 6);
    expect(await read(slow.store, version)).toBe(whole);
    expect(slow.asked().rounds).toBeGreaterThan(20);
    expect(await read(packedBlobs(slow.store), version)).toBe(whole);
    expect(slow.asked().rounds).toBeLessThanOrEqual(12);
  });

  it("are written again after eight publishes, those alone whose blobs changed", async () => {
    const { store } = await packed();
    const before = new Set(await packsOf(store));
    let latest = { version: "", generation: 0 };
    for (let edit = 1; edit <= 8; edit += 1) {
      latest = await publish(store, `edit ${edit}`);
      if (edit < 8) expect(await createPacker(store)(latest)).toBeUndefined();
    }
    const written = await createPacker(store)(latest);
    expect(written).toBeGreaterThan(0);
    expect(written).toBeLessThanOrEqual(3);
    expect((await packsOf(store)).filter((key) => before.has(key)).length).toBeGreaterThan(5);
    const { source, count } = watched(store);
    await read(packedBlobs(source), latest.version);
    expect(count("blobs/")).toBeLessThan(16);
  });

  it("are not asked for between, by a process that knows when they were written", async () => {
    const below = memoryStore();
    const { source, keys } = watched(below);
    const store = { ...below, get: source.get };
    const pack = createPacker(store);
    const root = await publish(store, "first");
    await pack(root);
    keys.length = 0;
    expect(await pack({ ...root, generation: root.generation + 7 })).toBeUndefined();
    expect(keys).toEqual([]);
  });

  it("that are no longer listed are collected as garbage, and no others", async () => {
    const { store } = await packed();
    const before = await packsOf(store);
    let latest = { version: "", generation: 0 };
    for (let edit = 1; edit <= 8; edit += 1) latest = await publish(store, `edit ${edit}`);
    await createPacker(store)(latest);
    const after = await packsOf(store);
    const day = 24 * 3_600_000;
    const options = { keepPublications: 1, graceMs: 1_000, others: collectables };
    for (const days of [1, 2]) await collectGarbage(store, { ...options, now: () => Date.now() + days * day });
    const left: string[] = [];
    for await (const { key } of store.list(packsFolder)) left.push(key);
    expect(left).toEqual([packIndexKey, ...after].sort());
    expect(before.some((key) => !after.includes(key))).toBe(true);
  });
});

describe("blobs are read by themselves", () => {
  const damages: readonly (readonly [string, (store: ObjectStore) => Promise<unknown>])[] = [
    ["the index is missing", (store) => store.delete(packIndexKey)],
    ["the index is no JSON", (store) => store.put(packIndexKey, new TextEncoder().encode("{"))],
    ["the index is of a later format", (store) => store.put(packIndexKey, new TextEncoder().encode('{"format":2}'))],
    ["the index says wrong sizes", (store) => editIndex(store, (text) => text.replaceAll(/",(\d)/g, '",1$1'))],
    ["the index says sizes that are none", (store) => editIndex(store, (text) => text.replaceAll(/",(\d)/g, '",-$1'))],
    ["packs are missing", async (store) => Promise.all((await packsOf(store)).map((key) => store.delete(key)))],
    [
      "packs hold something else",
      async (store) => Promise.all((await packsOf(store)).map((key) => store.put(key, new Uint8Array(1 << 20)))),
    ],
  ];

  it.each(damages)("where %s", async (_what, damage) => {
    const { store, version, whole } = await packed();
    await damage(store);
    expect(await read(packedBlobs(store), version)).toBe(whole);
  });

  it("where the store does not give packs", async () => {
    const { store, version, whole } = await packed();
    const failing: BlobSource = {
      get: (key, condition) =>
        key.startsWith(packsFolder) ? Promise.reject(new Error("403")) : store.get(key, condition),
    };
    expect(await read(packedBlobs(failing), version)).toBe(whole);
  });

  it("leaves out of packs what is missing when they are written, so that it is still missed", async () => {
    const store = memoryStore();
    const root = await publish(store, "first");
    const { source, keys } = watched(store);
    await read(source, root.version);
    const missing = keys.findLast((key) => blobOfKey(key) !== undefined) ?? "";
    await store.delete(missing);
    await createPacker(store)(root);
    const found = packedBlobs(store);
    await found.get(blobKey(root.version));
    expect((await found.get(missing)).kind).toBe("absent");
  });
});

async function editIndex(store: ObjectStore, edit: (text: string) => string): Promise<void> {
  const found = await store.get(packIndexKey);
  const text = found.kind === "found" ? new TextDecoder().decode(found.bytes) : "";
  expect(edit(text)).not.toBe(text);
  await store.put(packIndexKey, new TextEncoder().encode(edit(text)));
}
