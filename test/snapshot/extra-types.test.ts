import { describe, expect, it } from "vitest";
import { blobsIn } from "../../lib/snapshot/blob-groups.ts";
import { createPublisher } from "../../lib/snapshot/publish.ts";
import { createSnapshotReader } from "../../lib/snapshot/reader/snapshot-reader.ts";
import { reachableFrom } from "../../lib/snapshot/upkeep/reachable.ts";
import { createWorldEncoder } from "../../lib/snapshot/worlds/encode-world.ts";
import { restoreWorld } from "../../lib/snapshot/worlds/restore-world.ts";
import { memoryStore } from "../../lib/storage/memory.ts";
import { worldOf } from "./worlds.ts";

const world = worldOf({
  web: { clusters: { a: "1" }, extension_configs: { lua: "1" }, name_tables: { names: "1" } },
  plain: { clusters: { a: "1" } },
});

describe("a world in which one class has extension configurations and names", () => {
  it("comes back from the store as it was, and is stored alike again", async () => {
    const store = memoryStore();
    const publisher = createPublisher(store, { pace: { settleMs: 0, retentionMs: 0 } });
    await publisher.publish(world, await publisher.head());
    const root = (await publisher.head())?.head.steps.at(-1)?.root ?? "";
    const reader = createSnapshotReader(store);
    const restored = await restoreWorld(reader, root);
    const lists = restored.world.classes.map(({ id, stream }) => [
      id,
      stream.extension_configs?.flat().map(({ name }) => name),
      stream.name_tables?.flat().map(({ name }) => name),
    ]);
    expect(lists).toEqual([
      ["plain", [], []],
      ["web", ["lua"], ["names"]],
    ]);
    const again = createWorldEncoder().encode(restored.world);
    expect(again.rootBlob.hash).toBe(root);
    expect(new Set(blobsIn([again]).keys())).toEqual(new Set(await reachableFrom(reader, root)));
  });

  it("is the only one whose root says anything of them", () => {
    const { encode } = createWorldEncoder();
    const extra = { extension_configs: expect.any(String), name_tables: expect.any(String) };
    expect(encode(world).root.tables).toMatchObject(extra);
    const { tables } = encode(worldOf({ plain: { clusters: { a: "1" } } })).root;
    expect(Object.keys(tables)).toEqual(["clusters", "endpoints", "listeners", "routes"]);
  });
});
