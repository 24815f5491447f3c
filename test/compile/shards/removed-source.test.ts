import { describe, expect, it } from "vitest";
import { createShardWriter } from "../../../lib/collect/write-collected.ts";
import { createShardCompiler } from "../../../lib/compile/compile-files.ts";
import { createSourcesReader } from "../../../lib/compile/shards/read-sources.ts";
import { writeShard } from "../../../lib/compile/shards/write-shard.ts";
import { defaultWorldOptions } from "../../../lib/compile/world/world-of.ts";
import { packed } from "../../../lib/registry/origin/packed-object.ts";
import { memoryStore } from "../../../lib/storage/memory.ts";
import { bare, filesOf } from "../pods/manifests.ts";

const about = { kind: "kubernetes", cluster: "far" } as const;

/** A store with a source of files and one that a collector has filled, and how to take the latter away. */
async function place() {
  const store = memoryStore();
  await writeShard(store, "main", filesOf([bare("web-0")]));
  const collect = async () => {
    const writer = createShardWriter(store, { source: "far", about, identity: () => undefined });
    const entries = new Map(
      Array.from({ length: 200 }, (_, i) => {
        const { key, entry } = packed({ key: `Pod/shop/p${i}`, version: "1", object: { ...bare(`p${i}`) } });
        return [key, entry] as const;
      }),
    );
    await writer.load(entries);
    await writer.write(entries, false);
  };
  await collect();
  const remove = async () => {
    for await (const { key } of store.list("sources/far/")) await store.delete(key);
  };
  return { store, collect, remove };
}

describe("a collected source that is taken away", () => {
  it("is read anew when it comes back: nothing of it stayed in memory meanwhile", async () => {
    const { store, collect, remove } = await place();
    let nodes = 0;
    const counting: typeof store = {
      ...store,
      async get(key, condition) {
        if (key.startsWith("sources/far/nodes/")) nodes += 1;
        return store.get(key, condition);
      },
    };
    const read = createSourcesReader(counting);
    await read([]);
    const first = nodes;
    await read([]);
    expect(nodes).toBe(first);
    await remove();
    await read([]);
    await collect();
    nodes = 0;
    expect((await read([])).map(({ name }) => name)).toEqual(["main", "far"]);
    expect(nodes).toBe(first);
  });

  it("leaves none of its objects in a compiler", async () => {
    const { store } = await place();
    const shards = await createSourcesReader(store)([]);
    const compile = createShardCompiler(defaultWorldOptions);
    const podsOf = (of: typeof shards) =>
      compile(of).loaded.objects.filter(({ origin }) => origin.file.startsWith("cluster far"));
    const before = podsOf(shards);
    expect(before).toHaveLength(200);
    expect(podsOf(shards)[0]).toBe(before[0]);
    expect(podsOf(shards.filter(({ name }) => name !== "far"))).toEqual([]);
    // A compiler that still had them would give the same objects.
    expect(podsOf(shards)[0]).not.toBe(before[0]);
  });
});
