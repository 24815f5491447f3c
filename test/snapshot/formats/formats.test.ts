import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { createRecompiler } from "../../../lib/compile/recompile.ts";
import { hashOf } from "../../../lib/snapshot/blob.ts";
import { lastRoot, readHead } from "../../../lib/snapshot/head/head.ts";
import { rollback } from "../../../lib/snapshot/head/head-operations.ts";
import type { WholeTypeTable } from "../../../lib/snapshot/root.ts";
import { createSnapshotReader } from "../../../lib/snapshot/snapshot-reader.ts";
import { collectGarbage } from "../../../lib/snapshot/upkeep/collect-garbage.ts";
import { fsck } from "../../../lib/snapshot/upkeep/fsck.ts";
import { memoryStore } from "../../../lib/storage/memory.ts";
import type { ObjectStore } from "../../../lib/storage/object-store.ts";
import { testFront } from "../../front/fixtures.ts";

/**
 * A store as an earlier version wrote it (the commit before 84ff7f7b, of `samples/canary`), and what its own front answered then. One for
 * each format that is still read: the one before today's.
 */
interface Stored {
  readonly objects: Readonly<Record<string, string>>;
  readonly answers: readonly {
    readonly node: string;
    readonly type: "clusters" | "listeners" | "routes";
    readonly name?: string;
    readonly sha256: string;
  }[];
}

const stored: Stored = JSON.parse(readFileSync(new URL("whole-tables.json", import.meta.url), "utf8"));
const pace = { settleMs: 0, retentionMs: 0 };

async function storeOfThen(): Promise<ObjectStore> {
  const store = memoryStore();
  for (const [key, text] of Object.entries(stored.objects)) await store.put(key, new TextEncoder().encode(text));
  return store;
}

describe("a store in the format before today's", () => {
  it("is in that format", async () => {
    const reader = createSnapshotReader(await storeOfThen());
    const head = JSON.parse(stored.objects.HEAD ?? "");
    const { root } = await reader.root(lastRoot(head.steps));
    const table: Partial<WholeTypeTable> = JSON.parse(await reader.text(root.tables.clusters));
    expect(table.trees?.every(({ version }) => version.length > 0)).toBe(true);
    expect(stored.answers.length).toBeGreaterThan(2);
  });

  it("is served to the byte as it was", async () => {
    const { poll } = testFront({ store: await storeOfThen() });
    for (const { node, type, name, sha256 } of stored.answers) {
      const asked = { node: { id: node, cluster: "x" }, ...(name === undefined ? {} : { resource_names: [name] }) };
      expect(hashOf(await (await poll(type, asked)).text())).toBe(sha256);
    }
  });

  it("is whole by fsck, compiled upon in steps, compared, collected, and rolled back to", async () => {
    const store = await storeOfThen();
    expect((await fsck(store)).problems).toEqual([]);
    const before = (await readHead(store))?.head;
    const published = await createRecompiler({ store, publisher: { pace } })();
    expect(published).toMatchObject({ kind: "published", generation: 2 });
    await collectGarbage(store, { keepPublications: 5, graceMs: 0, now: Date.now });
    const { root, head } = await rollback(store, 1, { pace });
    expect([root, head.generation]).toEqual([lastRoot(before?.steps ?? []), 3]);
    expect((await fsck(store)).problems).toEqual([]);
  });
});

describe("a root of a format to come", () => {
  it("is refused with who wrote it, and what was served before goes on being served", async () => {
    const store = memoryStore();
    for (const [key, text] of Object.entries(stored.objects)) await store.put(key, new TextEncoder().encode(text));
    const { poll, request } = testFront({ store });
    const [asked] = stored.answers;
    const body = { node: { id: asked?.node, cluster: "x" } };
    expect((await poll("clusters", body)).status).toBe(200);
    const text = JSON.stringify({ compiler: "portolan 9.0.0", sources: [], everything: "elsewhere" });
    const root = hashOf(text);
    await store.put(`blobs/${root.slice(0, 2)}/${root}`, new TextEncoder().encode(text));
    const head = {
      ...JSON.parse(stored.objects.HEAD ?? ""),
      generation: 2,
      steps: [{ root, at: new Date(0).toISOString() }],
    };
    await store.put("HEAD", new TextEncoder().encode(JSON.stringify(head)));
    expect((await request("/healthz")).status).toBe(200);
    expect((await poll("clusters", body)).status).toBe(200);
    expect((await fsck(store)).problems.join()).toContain(
      "was written by portolan 9.0.0 in a format that this version does not read",
    );
  });
});
