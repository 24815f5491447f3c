import { expect, it } from "vitest";
import { rootFormat } from "../../lib/snapshot/format.ts";
import { lastRoot } from "../../lib/snapshot/head/head.ts";
import { createPublisher } from "../../lib/snapshot/publish.ts";
import { createSnapshotReader } from "../../lib/snapshot/reader/snapshot-reader.ts";
import { collectGarbage } from "../../lib/snapshot/upkeep/collect-garbage.ts";
import { fsck } from "../../lib/snapshot/upkeep/fsck.ts";
import { memoryStore } from "../../lib/storage/memory.ts";
import { manyNamed, worldOf } from "./worlds.ts";

const many = { nodes: [manyNamed("a")] };
const pace = { settleMs: 0, retentionMs: 0 };

/** Publishes worlds that differ in a cluster. */
async function published(contents: readonly string[], more: typeof many | undefined) {
  const store = memoryStore();
  const publisher = createPublisher(store, { pace });
  let written = 0;
  for (const content of contents) {
    const world = worldOf({ a: { clusters: { x: content } } }, more);
    const result = await publisher.publish(world, await publisher.head());
    if (result.kind === "published") written = result.written.bytes;
  }
  const root = lastRoot((await publisher.head())?.head.steps ?? []);
  return { store, root, written };
}

it("lists the pieces of a long node index in a blob, which a change of something else leaves alone", async () => {
  const { store, root, written } = await published(["1", "2"], many);
  const reader = createSnapshotReader(store);
  const stored = JSON.parse(await reader.text(root));
  expect(stored).toMatchObject({ format: rootFormat, nodeList: expect.stringMatching(/^[\da-f]{64}$/) });
  expect(stored).not.toHaveProperty("nodes");
  expect(written).toBeLessThan(JSON.stringify((await reader.root(root)).root.nodes).length + 1_000);
});

it("finds every node by it, in a store that was collected", async () => {
  const { store, root } = await published(["1", "2"], many);
  await collectGarbage(store, { keepPublications: 1, graceMs: 0, now: Date.now });
  expect((await fsck(store)).problems).toEqual([]);
  const reader = createSnapshotReader(store);
  const loaded = await reader.root(root);
  const keys = many.nodes.flatMap((node) => node.keys);
  expect(
    new Set(await Promise.all(keys.map(async (key) => (await reader.nodeClasses(loaded.root, key)).join()))),
  ).toEqual(new Set(["a"]));
  expect(await reader.nodeClasses(loaded.root, "b-1.default")).toEqual([]);
});

it("leaves a short one in the root", async () => {
  const { store, root } = await published(["1"], undefined);
  const reader = createSnapshotReader(store);
  expect(JSON.parse(await reader.text(root))).not.toHaveProperty("nodeList");
  const loaded = await reader.root(root);
  expect(await reader.nodeClasses(loaded.root, "a.default")).toEqual(["a"]);
});
