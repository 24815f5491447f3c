import { describe, expect, it } from "vitest";
import { createShardWriter } from "../../../lib/collect/write-collected.ts";
import { createCollectedReader } from "../../../lib/compile/collected/collected-shard.ts";
import { collectedKeys, headText } from "../../../lib/compile/collected/shard-head.ts";
import { createRecompiler } from "../../../lib/compile/recompile.ts";
import { checkHead } from "../../../lib/compile/shards/check-source.ts";
import { readShard } from "../../../lib/compile/shards/read-shard.ts";
import { fileKey, listKey } from "../../../lib/compile/shards/source-shard.ts";
import { UnreadableSource } from "../../../lib/compile/shards/unreadable-source.ts";
import { writeShard } from "../../../lib/compile/shards/write-shard.ts";
import { sha256 } from "../../../lib/config/canonical-json.ts";
import { encodeNode, type TreeNode } from "../../../lib/config-store/ledger/merkle-tree.ts";
import { limits } from "../../../lib/limits/limits.ts";
import { memoryStore } from "../../../lib/storage/memory.ts";
import type { ObjectStore } from "../../../lib/storage/object-store.ts";
import { bare, filesOf } from "../pods/manifests.ts";

const bytes = (text: string) => new TextEncoder().encode(text);
const about = { kind: "mcp" } as const;

async function putNode(store: ObjectStore, node: TreeNode): Promise<string> {
  const text = encodeNode(node);
  await store.put(collectedKeys.node("b", sha256(text)), bytes(text));
  return sha256(text);
}

const headOf = (root: string) => headText({ about, root, isMeantEmpty: false });

/** @returns the head of a tree in which one leaf is named sixteen times at each level */
async function oneLeafEverywhere(store: ObjectStore, depth: number): Promise<string> {
  let root = await putNode(store, { kind: "leaf", entries: [["k", "1 {}"]] });
  let size = 1;
  for (let level = 0; level < depth; level += 1) {
    size *= 16;
    root = await putNode(store, { kind: "branch", size, children: Array.from({ length: 16 }, () => root) });
  }
  return headOf(root);
}

/** What a collector writes: objects of so many characters. */
async function collected(count: number, length: number) {
  const store = memoryStore();
  const writer = createShardWriter(store, { source: "b", about, identity: () => undefined });
  const entries = new Map(
    Array.from({ length: count }, (_, i) => [`k${i}`, `1 ${JSON.stringify({ a: "x".repeat(length) })}`] as const),
  );
  await writer.load(entries);
  await writer.write(entries, false);
  const found = await store.get(collectedKeys.head("b"));
  return { store, text: found.kind === "found" ? new TextDecoder().decode(found.bytes) : "" };
}

/** A store whose nodes are counted as they are read. */
function counted(store: ObjectStore) {
  const reads: string[] = [];
  const counting: ObjectStore = {
    ...store,
    async get(key, condition) {
      if (key.includes("/nodes/")) reads.push(key);
      return store.get(key, condition);
    },
  };
  return { reads, store: counting };
}

describe("the head of a collected source", () => {
  it.each([1, 2, 4])("may not lead to one node in several places, at depth %d", async (depth) => {
    const { reads, store } = counted(memoryStore());
    const text = await oneLeafEverywhere(store, depth);
    await expect(checkHead(store, { name: "b", text })).rejects.toThrow(UnreadableSource);
    expect(reads.length).toBeLessThan(10);
  });

  it("may not lead to a node where its keys do not belong", async () => {
    const store = memoryStore();
    const keys = Array.from({ length: 17 }, (_, i) => `k${i}`);
    const leaf = await putNode(store, { kind: "leaf", entries: keys.slice(0, 16).map((key) => [key, "1 {}"]) });
    const other = await putNode(store, { kind: "leaf", entries: [["k16", "1 {}"]] });
    const children = [leaf, other, ...Array.from({ length: 14 }, () => "")];
    const root = await putNode(store, { kind: "branch", size: 17, children });
    await expect(checkHead(store, { name: "b", text: headOf(root) })).rejects.toThrow("no collector has written");
    const long = await putNode(store, { kind: "leaf", entries: keys.map((key) => [key, "1 {}"]) });
    await expect(checkHead(store, { name: "b", text: headOf(long) })).rejects.toThrow("no collector has written");
  });

  it("is taken as a collector writes it, each node read once", async () => {
    const { store, text } = await collected(2_000, 10);
    const { reads, store: counting } = counted(store);
    await checkHead(counting, { name: "b", text });
    expect(new Set(reads).size).toBe(reads.length);
  });

  it("stands for so many objects and bytes, and no more", async () => {
    const { store, text } = await collected(40, 100);
    const change = { name: "b", text };
    await checkHead(store, change, { maxObjects: 40, maxBytes: 10_000 });
    await expect(checkHead(store, change, { maxObjects: 39, maxBytes: 10_000 })).rejects.toThrow("39 objects: split");
    await expect(checkHead(store, change, { maxObjects: 40, maxBytes: 4_000 })).rejects.toThrow("4000 bytes");
  });

  it("is checked in pieces, between which others have the process", async () => {
    const { store, text } = await collected(32, 1024 * 1024);
    let turns = 0;
    let isOver = false;
    const turn = (): void => {
      turns += 1;
      if (!isOver) setImmediate(turn);
    };
    setImmediate(turn);
    await checkHead(store, { name: "b", text });
    isOver = true;
    expect(turns).toBeGreaterThan(5);
  });

  it("costs the other sources nothing where it was written all the same", async () => {
    const store = memoryStore();
    await writeShard(store, "main", filesOf([bare("web-0", {}, { app: "web" })]));
    const recompile = createRecompiler({ store });
    await recompile();
    await store.put(collectedKeys.head("b"), bytes(await oneLeafEverywhere(store, 12)));
    await expect(createCollectedReader(store, "b")()).rejects.toThrow("more than once");
    await writeShard(store, "main", filesOf([bare("web-1", {}, { app: "web" })]));
    const { kind, diagnostics } = await recompile();
    expect([kind, diagnostics.map(({ code }) => code)]).toEqual(["published", ["unreadable-source"]]);
  });
});

describe("the list of a source", () => {
  it("may not name a run twice", async () => {
    const store = memoryStore();
    await store.put(fileKey("b", sha256("[]")), bytes("[]"));
    const runs = [sha256("[]"), sha256("[]")];
    await store.put(listKey("b"), bytes(JSON.stringify({ hasParts: true, runs, applied: 0 })));
    await expect(readShard(store, "b")).rejects.toThrow("no list of files");
  });

  it("may not stand for any number of bytes by naming one long text many times", async () => {
    const store = memoryStore();
    const text = `# ${"x".repeat(limits.objectBytes - 2)}`;
    await store.put(fileKey("b", sha256(text)), bytes(text));
    const files = Array.from({ length: 1 + limits.sourceTextBytes / limits.objectBytes }, (_, i) => ({
      file: `${i}.yaml`,
      hash: sha256(text),
    }));
    const put = (some: typeof files) => store.put(listKey("b"), bytes(JSON.stringify({ hasParts: true, files: some })));
    await put(files.slice(1));
    expect((await readShard(store, "b"))?.files.length).toBe(files.length - 1);
    await put(files);
    await expect(readShard(store, "b")).rejects.toThrow(UnreadableSource);
  });
});
