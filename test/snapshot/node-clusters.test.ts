import { describe, expect, it } from "vitest";
import { lastRoot } from "../../lib/snapshot/head/head.ts";
import { createClassRelations } from "../../lib/snapshot/head/history/class-relations.ts";
import { classesIn, createNodeIndexEncoder, nodesIn } from "../../lib/snapshot/nodes/node-index.ts";
import { namedPods } from "../../lib/snapshot/nodes/node-names.ts";
import { createPublisher } from "../../lib/snapshot/publish.ts";
import { createSnapshotReader } from "../../lib/snapshot/reader/snapshot-reader.ts";
import type { NodeShard } from "../../lib/snapshot/root.ts";
import { movedClasses } from "../../lib/snapshot/worlds/moved-classes.ts";
import { restoreWorld } from "../../lib/snapshot/worlds/restore-world.ts";
import { memoryStore } from "../../lib/storage/memory.ts";
import { worldOf } from "./worlds.ts";

const node = (key: string, classId: string, clusterId?: string) => ({
  keys: [key],
  classId,
  ...(clusterId === undefined ? {} : { clusterId }),
});
const shardsOf = (nodes: Parameters<ReturnType<typeof createNodeIndexEncoder>>[0]): readonly NodeShard[] =>
  createNodeIndexEncoder()(nodes).blobs.map(({ bytes }) => JSON.parse(new TextDecoder().decode(bytes)));

describe("the node index", () => {
  const nodes = [node("db-0.shop", "a", "one"), node("db-0.shop", "b", "two"), node("web-0.shop", "c", "two")];

  it("keeps nodes of one name apart by their clusters", () => {
    const [shard = {}] = shardsOf(nodes);
    expect(classesIn(shard, "db-0.shop", "one")).toEqual(["a"]);
    expect(classesIn(shard, "db-0.shop", "two")).toEqual(["b"]);
    expect(classesIn(shard, "db-0.shop", "three")).toEqual([]);
    expect(classesIn(shard, "web-0.shop", "one")).toEqual([]);
    expect(classesIn(shard, "db-0.shop")).toEqual(["a", "b"]);
    expect(classesIn(shard, "web-0.shop")).toEqual(["c"]);
    expect(classesIn(shard, "constructor", "__proto__")).toEqual([]);
  });

  it("has the same bytes in whatever order the nodes come", () => {
    expect(shardsOf(nodes.toReversed())).toEqual(shardsOf(nodes));
    const encode = createNodeIndexEncoder();
    const [first, second, third] = [encode(nodes), encode(nodes.slice(1)), encode(nodes)];
    expect(third).toEqual(first);
    expect(second).not.toEqual(first);
  });

  it("is read as it was written before it said clusters, and written so again", () => {
    const [shard] = shardsOf([node("db-0.shop", "a"), node("web-0.shop", "c")]);
    expect(shard).toEqual({ classes: { "db-0.shop": "a", "web-0.shop": "c" } });
    expect(classesIn(shard ?? {}, "db-0.shop", "any")).toEqual(["a"]);
    expect(shardsOf(nodesIn(shard ?? {}))).toEqual([shard]);
  });

  it("comes back from a store with its clusters", async () => {
    const store = memoryStore();
    const publisher = createPublisher(store, { pace: { settleMs: 0, retentionMs: 0 } });
    const world = worldOf({ a: { clusters: { x: "1" } }, b: { clusters: { y: "1" } }, c: {} }, { nodes });
    await publisher.publish(world, undefined);
    const root = lastRoot((await publisher.head())?.head.steps ?? []);
    const restored = await restoreWorld(createSnapshotReader(store), root);
    expect(new Set(restored.world.nodes.map((one) => JSON.stringify(one)))).toEqual(
      new Set(nodes.map((one) => JSON.stringify(one))),
    );
  });
});

describe("nodes of one name in two clusters", () => {
  const before = worldOf({ a: {}, b: {} }, { nodes: [node("db-0.shop", "a", "one"), node("db-0.shop", "b", "two")] });
  const after = worldOf({ a2: {}, b: {} }, { nodes: [node("db-0.shop", "a2", "one"), node("db-0.shop", "b", "two")] });

  it("move from class to class each by itself", () => {
    const { of } = createClassRelations()(before, after);
    expect(of("a").map(({ id }) => id)).toEqual(["a2"]);
    expect(of("b").map(({ id }) => id)).toEqual(["b"]);
    expect(movedClasses(before, after)).toEqual([{ before: "a", after: "a2", who: ["db-0.shop@one"] }]);
  });

  it("are told apart by their clusters, and no others are", () => {
    expect(namedPods([...before.nodes, node("web-0.shop", "c", "two"), node("10.0.0.1", "c", "two")])).toEqual([
      { name: "db-0.shop@one", classId: "a" },
      { name: "db-0.shop@two", classId: "b" },
      { name: "web-0.shop", classId: "c" },
    ]);
  });
});
