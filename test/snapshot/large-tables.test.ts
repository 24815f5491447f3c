import { fromJson } from "@bufbuild/protobuf";
import { beforeAll, describe, expect, it } from "vitest";
import { ListRefsSchema, TypeTableSchema } from "../../gen/portolan/v1/root_pb.ts";
import { lastRoot } from "../../lib/snapshot/head/head.ts";
import { createPublisher } from "../../lib/snapshot/publish.ts";
import { createSnapshotReader } from "../../lib/snapshot/reader/snapshot-reader.ts";
import type { TypeTable } from "../../lib/snapshot/root.ts";
import { collectGarbage } from "../../lib/snapshot/upkeep/collect-garbage.ts";
import { fsck } from "../../lib/snapshot/upkeep/fsck.ts";
import { memoryStore } from "../../lib/storage/memory.ts";
import type { ObjectStore } from "../../lib/storage/object-store.ts";
import { worldOf } from "./worlds.ts";

/** Each class has a cluster of its own, so that the table of clusters has a part and a tree for each. */
const worldWith = (changed: string) =>
  worldOf(
    Object.fromEntries(
      Array.from({ length: 4_000 }, (_, at) => [`class-${at}`, { clusters: { [`c${at}`]: at === 7 ? changed : "1" } }]),
    ),
  );

describe("a type table of many lists", () => {
  const store = memoryStore();
  let written = 0;
  beforeAll(async () => {
    for (const content of ["1", "2"]) {
      const publisher = createPublisher(store, { pace: { settleMs: 0, retentionMs: 0 } });
      const result = await publisher.publish(worldWith(content), await publisher.head());
      if (result.kind === "published") written = result.written.bytes;
    }
  });
  const read = async (from: Pick<ObjectStore, "get"> = store) => {
    const reader = createSnapshotReader(from);
    const head = await createPublisher(store, { pace: { settleMs: 0, retentionMs: 0 } }).head();
    const loaded = await reader.root(lastRoot(head?.head.steps ?? []));
    const table: TypeTable = JSON.parse(await reader.text(loaded.root.tables.clusters));
    return { reader, loaded, table };
  };

  it("names lists of lists, and a change of one class writes few of them", async () => {
    const { reader, table } = await read();
    fromJson(TypeTableSchema, JSON.parse(JSON.stringify(table)));
    expect(table.partLists.length).toBeLessThanOrEqual(64);
    expect(table.partLists.reduce((sum, { count }) => sum + count, 0)).toBe(4_000);
    const [first] = table.partLists;
    expect(first?.lists).toBeGreaterThan(1);
    fromJson(ListRefsSchema, JSON.parse(await reader.text(first?.hash ?? "")));
    expect(written).toBeLessThan(64 * 1_024);
  });

  it("says the same whether it is read whole or tree by tree", async () => {
    const { reader, loaded } = await read();
    const { parts, trees, blobs } = await reader.table(loaded.root, "clusters");
    expect(trees).toHaveLength(4_000);
    for (const index of [0, 7, 2_500, 3_999]) {
      const whole = (trees[index] ?? []).map((place) => parts[place]);
      expect(whole).toEqual(await reader.parts(loaded.root, "clusters", index));
    }
    expect(blobs).toEqual(await reader.blobsOfType(loaded.root, "clusters"));
  });

  it("is read blob by blob, each once, where it is read whole", async () => {
    const asked: string[] = [];
    const get: ObjectStore["get"] = (key, condition) => {
      asked.push(key);
      return store.get(key, condition);
    };
    const { reader, loaded } = await read({ get });
    asked.length = 0;
    const { parts, trees } = await reader.table(loaded.root, "clusters");
    expect([parts.length, trees.length]).toEqual([4_000, 4_000]);
    expect(new Set(asked).size).toBe(asked.length);
    // Lists of parts and of trees, and lists of these; none of the four thousand segments.
    expect(asked.length).toBeLessThan(400);
  });

  it("leads to the tree of each class, also in a store that was collected", async () => {
    await collectGarbage(store, { keepPublications: 1, graceMs: 0, now: Date.now });
    expect((await fsck(store)).problems).toEqual([]);
    const { reader, loaded } = await read();
    const names = await Promise.all(
      [...loaded.classes.values()].map(async ({ id, poll }) => {
        const { segments } = await reader.tree(loaded.root, "clusters", poll.clusters);
        return [id, segments.map(({ first }) => first).join()];
      }),
    );
    expect(names).toHaveLength(4_000);
    expect(names.filter(([id, name]) => name !== id?.replace("class-", "c"))).toEqual([]);
    expect(await reader.tree(loaded.root, "clusters", 4_000).catch(String)).toContain("has no tree 4000");
  });
});
