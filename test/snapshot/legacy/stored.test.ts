import { describe, expect, it } from "vitest";
import { hashOf } from "../../../lib/base/blob.ts";
import type { CompiledLegacy, DocumentRef } from "../../../lib/legacy/compiled-legacy.ts";
import { composeDocument, shareElements, textsOfDocuments } from "../../../lib/legacy/compose-document.ts";
import { encodeDocument } from "../../../lib/legacy/go-json.ts";
import { elementText, listForm } from "../../../lib/legacy/listed-texts.ts";
import { readHead, rootAt } from "../../../lib/snapshot/head/head.ts";
import { createPublisher } from "../../../lib/snapshot/publish.ts";
import { createSnapshotReader } from "../../../lib/snapshot/reader/snapshot-reader.ts";
import { collectGarbage } from "../../../lib/snapshot/upkeep/collect-garbage.ts";
import { fsck } from "../../../lib/snapshot/upkeep/fsck.ts";
import { restoreWorld } from "../../../lib/snapshot/worlds/restore-world.ts";
import { memoryStore } from "../../../lib/storage/memory.ts";
import { worldOf } from "../worlds.ts";

const text = '{"clusters": []}';
const ref = { text: hashOf(text), resources: 0 };

/** A mesh that gives every class these clusters. */
const legacyOf = (clusters: DocumentRef, texts: CompiledLegacy["texts"]): CompiledLegacy => ({
  index: {
    registrations: ref,
    classes: { "sidecar|default.svc.cluster.local|empty|": { clusters, listeners: ref, routes: { "80": ref } } },
    sites: {},
    hosts: {},
  },
  texts,
});

const form = listForm(encodeDocument({ clusters: [] }), 2);
const elements = Array.from({ length: 400 }, (_, at) =>
  elementText({ name: `cluster-${at}`, filler: "x".repeat(200) }, form),
);
const long = composeDocument(form, ["\n   {}", [0, 200], "\n   {}", [201, 400]], shareElements(elements));

describe.each([
  { what: "as releases before format 6 stored them", format: 5, legacy: legacyOf(ref, { [ref.text]: text }) },
  {
    what: "in chunks",
    format: 6,
    legacy: legacyOf(long.ref, { ...Object.fromEntries(textsOfDocuments([long])), [ref.text]: text }),
  },
])("a snapshot with answers of the v1 API $what", ({ format, legacy }) => {
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
    const reader = createSnapshotReader(store);
    expect((await reader.root(root)).root.format).toBe(format);
    for (const name of Object.keys(legacy.texts)) expect(await reader.legacyText(name)).toBe(legacy.texts[name]);
  });
});
