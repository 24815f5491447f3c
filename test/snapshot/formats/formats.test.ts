import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { blobKey, hashOf } from "../../../lib/base/blob.ts";
import { createRecompiler } from "../../../lib/compile/recompile.ts";
import { chunkedV1Format, rootFormat } from "../../../lib/snapshot/format.ts";
import { lastRoot, readHead } from "../../../lib/snapshot/head/head.ts";
import { rollback, unpin } from "../../../lib/snapshot/head/head-operations.ts";
import { recoverHead } from "../../../lib/snapshot/head/recover-head.ts";
import { checkBeforeFill } from "../../../lib/snapshot/publish.ts";
import { createSnapshotReader } from "../../../lib/snapshot/reader/snapshot-reader.ts";
import { takeOver } from "../../../lib/snapshot/regions/take-over.ts";
import type { TypeTable, WholeTypeTable } from "../../../lib/snapshot/root.ts";
import { collectGarbage } from "../../../lib/snapshot/upkeep/collect-garbage.ts";
import { fsck } from "../../../lib/snapshot/upkeep/fsck.ts";
import { memoryStore } from "../../../lib/storage/memory.ts";
import type { ObjectStore } from "../../../lib/storage/object-store.ts";
import { testFront } from "../../front/fixtures.ts";

/** A store as an earlier version wrote it, of `samples/canary`, and what its own front answered then. */
interface Stored {
  readonly objects: Readonly<Record<string, string>>;
  readonly answers: readonly {
    readonly node: string;
    readonly type: "clusters" | "listeners" | "routes";
    readonly name?: string;
    readonly sha256: string;
  }[];
}

const readStored = (file: string): Stored => JSON.parse(readFileSync(new URL(file, import.meta.url), "utf8"));
const pace = { settleMs: 0, retentionMs: 0 };
const utf8 = (text: string) => new TextEncoder().encode(text);

async function storeOf(objects: Stored["objects"]): Promise<ObjectStore> {
  const store = memoryStore();
  for (const [key, text] of Object.entries(objects)) await store.put(key, utf8(text));
  return store;
}

/** What its root says of its format, and a type table of it. */
async function readTable(store: ObjectStore) {
  const reader = createSnapshotReader(store);
  const head = (await readHead(store))?.head;
  const { root } = await reader.root(lastRoot(head?.steps ?? []));
  const table: Partial<WholeTypeTable & TypeTable> = JSON.parse(await reader.text(root.tables.clusters));
  return { format: root.format, table };
}

function isInLists(table: Partial<WholeTypeTable & TypeTable>): boolean {
  return table.trees === undefined && table.treeLists !== undefined;
}

// One for each format that is still read, and one for today's from before its roots said so.
describe.each([
  // The commit before 84ff7f7b.
  {
    what: "of whole type tables",
    file: "whole-tables.json",
    said: undefined,
    isIt: (table: Partial<WholeTypeTable & TypeTable>) => table.trees?.every(({ version }) => version.length > 0),
  },
  // 648cdb92.
  {
    what: "from before roots said their format",
    file: "unnumbered.json",
    said: undefined,
    isIt: isInLists,
  },
  // d38cab3a.
  { what: "whose roots list their nodes", file: "nodes-in-root.json", said: 2, isIt: isInLists },
  // f639f99b.
  { what: "whose lists of parts say all of long resources", file: "long-in-parts.json", said: 3, isIt: isInLists },
  // 65f43e17.
  {
    what: "in the format before today's, whose nodes have no cluster",
    file: "nodes-without-clusters.json",
    said: 4,
    isIt: isInLists,
  },
])("a store $what", ({ file, said, isIt }) => {
  const stored = readStored(file);
  const storeOfThen = () => storeOf(stored.objects);

  it("is what it says", async () => {
    const { format, table } = await readTable(await storeOfThen());
    expect([format, isIt(table)]).toEqual([said, true]);
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
    expect((await readTable(store)).format).toBe(rootFormat);
    await collectGarbage(store, { keepPublications: 5, graceMs: 0, now: Date.now });
    const { root, head } = await rollback(store, 1, { pace });
    expect([root, head.generation]).toEqual([lastRoot(before?.steps ?? []), 3]);
    expect((await fsck(store)).problems).toEqual([]);
  });
});

describe("a format to come", () => {
  const { objects, answers } = readStored("unnumbered.json");
  const [asked] = answers;
  const body = { node: { id: asked?.node, cluster: "x" } };
  const [oldRoot = ""] = Object.keys(objects).filter((key) => objects[key]?.startsWith('{"compiler":'));
  const old = objects[oldRoot] ?? "";

  /** Leads HEAD to a root of the text. */
  async function transition(store: ObjectStore, text: string): Promise<void> {
    const root = hashOf(text);
    await store.put(blobKey(root), utf8(text));
    const steps = [{ root, at: new Date(0).toISOString() }];
    await store.put("HEAD", utf8(JSON.stringify({ ...JSON.parse(objects.HEAD ?? ""), generation: 2, steps })));
  }

  it.each([
    {
      // It has every field of today's, which mean something else.
      text: JSON.stringify({ ...JSON.parse(old), format: chunkedV1Format + 1, compiler: "portolan 9.0.0" }),
      reason: `was written by portolan 9.0.0 in format ${chunkedV1Format + 1}, and this version reads formats up to ${chunkedV1Format}: update it`,
    },
    {
      text: JSON.stringify({ compiler: "portolan 9.0.0", sources: [], everything: "elsewhere" }),
      reason: "was written by portolan 9.0.0 in a format that this version does not read",
    },
  ])("of a root is refused with its author: $text", async ({ text, reason }) => {
    const store = await storeOf(objects);
    const { poll, request } = testFront({ store });
    expect((await poll("clusters", body)).status).toBe(200);
    await transition(store, text);
    expect((await request("/healthz")).status).toBe(200);
    expect((await poll("clusters", body)).status).toBe(200);
    expect((await fsck(store)).problems.join()).toContain(reason);
    // An older version publishes nothing over it and collects nothing of it, and one that starts now answers with no misreading.
    await expect(createRecompiler({ store, publisher: { pace } })()).rejects.toThrow(reason);
    const others = { keepPublications: 5, graceMs: 0, now: Date.now };
    await expect(collectGarbage(store, others)).rejects.toThrow(reason);
    const unserved = await testFront({ store }).poll("clusters", body);
    const told = text.includes('"format":') ? reason : "the store cannot be read";
    expect([unserved.status, await unserved.text()]).toEqual([503, expect.stringContaining(told)]);
    expect((await readHead(store))?.head.generation).toBe(2);
  });

  it("of a root that was rolled back from keeps nobody from publishing", async () => {
    const store = await storeOf(objects);
    const newest = JSON.stringify({ format: chunkedV1Format + 1, compiler: "portolan 9.0.0" });
    await store.put(blobKey(hashOf(newest)), utf8(newest));
    const pin = { by: "somebody", why: "back to the version before", since: new Date(0).toISOString() };
    await store.put("HEAD", utf8(JSON.stringify({ ...JSON.parse(objects.HEAD ?? ""), newest: hashOf(newest), pin })));
    await checkBeforeFill(store);
    const published = await createRecompiler({ store, publisher: { pace } })();
    expect(published).toMatchObject({ kind: "pinned", generation: 2 });
    expect((await unpin(store, { pace })).root).toBe(published.version);
    expect((await readTable(store)).format).toBe(rootFormat);
  });

  it("of HEAD is neither followed nor rebuilt, replaced or taken over", async () => {
    const store = await storeOf(objects);
    const { poll, request } = testFront({ store });
    expect((await poll("clusters", body)).status).toBe(200);
    const newer = JSON.stringify({ format: 2, generation: 7, ways: ["otherwise"] });
    await store.put("HEAD", utf8(newer));
    expect((await poll("clusters", body)).status).toBe(200);
    const reason =
      "HEAD was written by a newer version of Portolan in format 2, and this version reads formats up to 1";
    expect(await (await request("/healthz")).text()).toContain(reason);
    for (const act of [recoverHead, takeOver, createRecompiler({ store, publisher: { pace } })])
      await expect(act(store)).rejects.toThrow(reason);
    const found = await store.get("HEAD");
    expect(found.kind === "found" && new TextDecoder().decode(found.bytes)).toBe(newer);
  });
});
