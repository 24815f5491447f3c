import { describe, expect, it } from "vitest";
import { createShardWriter } from "../../../lib/collect/write-collected.ts";
import { collectedKeys } from "../../../lib/compile/collected/shard-head.ts";
import { checkCollected } from "../../../lib/compile/slices/check-collected.ts";
import { memoryStore } from "../../../lib/storage/memory.ts";
import type { ObjectStore } from "../../../lib/storage/object-store.ts";

const about = { kind: "mcp" } as const;

/** A source that a collector fills, and a store that counts how often its nodes are listed. */
async function collectedSource() {
  const inner = memoryStore();
  const writer = createShardWriter(inner, { source: "b", about, identity: () => undefined });
  const lists: string[] = [];
  const store: ObjectStore = {
    ...inner,
    list(prefix, after) {
      lists.push(prefix);
      return inner.list(prefix, after);
    },
  };
  await writer.load(new Map());
  return {
    store,
    lists,
    /** @returns the head with objects of 100 characters @param serial another makes other objects of them */
    async write(objects: number, serial = 0): Promise<string> {
      const entry = `1 ${JSON.stringify({ serial, text: "x".repeat(100) })}`;
      await writer.write(new Map(Array.from({ length: objects }, (_, i) => [`k${i}`, entry])), false);
      const found = await inner.get(collectedKeys.head("b"));
      return found.kind === "found" ? new TextDecoder().decode(found.bytes) : "";
    },
  };
}

/** Of about 70 of the objects. */
const bounds = { maxObjects: 1_000, maxBytes: 10_000 };

describe("a collected source that changes", () => {
  it("has its nodes listed once, however often it changes", async () => {
    const { store, lists, write } = await collectedSource();
    let before = await write(20);
    for (const objects of [21, 22, 23]) {
      const text = await write(objects);
      await checkCollected(store, { name: "b", text, before }, bounds);
      await checkCollected(store, { name: "b", text, before }, bounds);
      before = text;
    }
    expect(lists).toHaveLength(1);
  });

  it("is refused when it has grown beyond its bound, in steps of any size, in a process that has seen it grow and in another", async () => {
    const { store, write } = await collectedSource();
    let before = await write(20);
    for (const objects of [40, 60]) {
      const text = await write(objects);
      await checkCollected(store, { name: "b", text, before }, bounds);
      before = text;
    }
    const text = await write(80);
    for (const seen of [store, { ...store }])
      await expect(checkCollected(seen, { name: "b", text, before }, bounds)).rejects.toThrow("10000 bytes of text");
  });

  it("may change by more than its bound over time", async () => {
    const { store, write } = await collectedSource();
    let before = await write(40);
    for (let serial = 1; serial < 6; serial += 1) {
      const text = await write(40, serial);
      await checkCollected(store, { name: "b", text, before }, bounds);
      before = text;
    }
  });
});
