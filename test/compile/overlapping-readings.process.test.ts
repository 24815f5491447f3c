import { describe, expect, it } from "vitest";
import { createShardWriter } from "../../lib/collect/write-collected.ts";
import { createCollectedReader } from "../../lib/compile/collected/collected-shard.ts";
import { packed } from "../../lib/registry/origin/packed-object.ts";
import { memoryStore } from "../../lib/storage/memory.ts";
import type { ObjectStore } from "../../lib/storage/object-store.ts";

const entry = (key: string, version: string) => packed({ key, version, object: { key, version } }).entry;

describe("readings of a collected source that overlap", () => {
  it("each give what the source held, and leave the next one nothing wrong", async () => {
    const below = memoryStore();
    const writer = createShardWriter(below, { source: "k", about: { kind: "consul" }, identity: () => "x 1" });
    await writer.load(new Map());
    const write = (changes: Readonly<Record<string, string | undefined>>) =>
      writer.write(
        new Map(Object.entries(changes).map(([key, version]) => [key, version && entry(key, version)])),
        false,
      );
    /** Nodes are held up for whoever begins now. */
    let held: Promise<void> = Promise.resolve();
    const store: ObjectStore = {
      ...below,
      async get(key, condition) {
        const waits = held;
        const found = await below.get(key, condition);
        if (key.includes("/nodes/")) await waits;
        return found;
      },
    };
    const read = createCollectedReader(store, "k");
    const versions = async () =>
      Object.fromEntries([...((await read())?.objects ?? [])].map(([key, { version }]) => [key, version]));
    await write({ a: "1", b: "1" });
    expect(await versions()).toEqual({ a: "1", b: "1" });
    await write({ a: "2", c: "2" });
    const gate = Promise.withResolvers<void>();
    held = gate.promise;
    const early = versions();
    await new Promise((resolve) => setTimeout(resolve, 10));
    held = Promise.resolve();
    await write({ a: "1", c: undefined, d: "3" });
    expect(await versions()).toEqual({ a: "1", b: "1", d: "3" });
    gate.resolve();
    expect(await early).toEqual({ a: "2", b: "1", c: "2" });
    expect(await versions()).toEqual({ a: "1", b: "1", d: "3" });
  });
});
