import { describe, expect, it } from "vitest";
import { hashOf } from "../../../lib/snapshot/blob.ts";
import { readHead, rootAt } from "../../../lib/snapshot/head/head.ts";
import type { CompiledLegacy } from "../../../lib/snapshot/legacy/compiled-legacy.ts";
import { createPublisher } from "../../../lib/snapshot/publish.ts";
import { createSnapshotReader } from "../../../lib/snapshot/snapshot-reader.ts";
import { collectGarbage } from "../../../lib/snapshot/upkeep/collect-garbage.ts";
import { fsck } from "../../../lib/snapshot/upkeep/fsck.ts";
import { restoreWorld } from "../../../lib/snapshot/worlds/restore-world.ts";
import { memoryStore } from "../../../lib/storage/memory.ts";
import { worldOf } from "../worlds.ts";

const text = '{"clusters": []}';
const ref = { text: hashOf(text), resources: 0 };
const legacy: CompiledLegacy = {
  index: {
    registrations: ref,
    classes: { "sidecar|default.svc.cluster.local|empty|": { clusters: ref, listeners: ref, routes: { "80": ref } } },
    sites: {},
    hosts: {},
  },
  texts: { [ref.text]: text },
};

describe("a snapshot with answers of the v1 API", () => {
  it("reads back equal, and every blob of it counts as reachable", async () => {
    const store = memoryStore();
    const publisher = createPublisher(store, { pace: { settleMs: 0, retentionMs: 0 } });
    const world = { ...worldOf({ a: { clusters: { c: "1" } } }), legacy };
    await publisher.publish(world, await publisher.head());
    const head = (await readHead(store))?.head;
    const root = head === undefined ? "" : rootAt(head, Date.now());
    expect((await restoreWorld(createSnapshotReader(store), root)).world.legacy).toEqual(legacy);
    for (const days of [1, 2, 3]) {
      await collectGarbage(store, { keepPublications: 1, graceMs: 1000, now: () => Date.now() + days * 86_400_000 });
    }
    expect((await fsck(store)).problems).toEqual([]);
    expect(await createSnapshotReader(store).legacyText(ref.text)).toBe(text);
  });
});
