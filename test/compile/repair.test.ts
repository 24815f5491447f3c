import { describe, expect, it } from "vitest";
import { blobOfKey } from "../../lib/base/blob.ts";
import { createRecompiler } from "../../lib/compile/recompile.ts";
import { writeShard } from "../../lib/compile/shards/write-shard.ts";
import { remakeWorlds, sourceProblems } from "../../lib/compile/world/remake-worlds.ts";
import { readHead } from "../../lib/snapshot/head/head.ts";
import { rollback } from "../../lib/snapshot/head/head-operations.ts";
import { fsck } from "../../lib/snapshot/upkeep/fsck.ts";
import { repair } from "../../lib/snapshot/upkeep/repair.ts";
import { memoryStore } from "../../lib/storage/memory.ts";
import type { ObjectStore } from "../../lib/storage/object-store.ts";
import { allOf } from "../all-of.ts";

const publisher = { pace: { settleMs: 0, retentionMs: 0 } };
const service = (port: number) => `apiVersion: v1
kind: Service
metadata: { name: web, namespace: shop }
spec: { ports: [{ port: ${port}, name: http }] }
`;

/** Three publications of two sources, rolled back to the second. */
async function scene(): Promise<ObjectStore> {
  const store = memoryStore();
  await writeShard(store, "zoo", [{ file: "z.yaml", text: service(99).replace("web", "zoo") }]);
  const versions: string[] = [];
  for (const port of [80, 81, 82]) {
    await writeShard(store, "main", [{ file: "a.yaml", text: service(port) }]);
    versions.push((await createRecompiler({ store, publisher })()).version);
  }
  // Services are no configuration, so the second is named.
  await rollback(store, versions[1] ?? "", publisher);
  return store;
}

const blobs = async (store: ObjectStore) =>
  (await allOf(store.list("blobs/"))).flatMap(({ key }) => (blobOfKey(key) === undefined ? [] : [key]));

const mend = (store: ObjectStore) => repair(store, remakeWorlds(store));

describe("fsck --repair", () => {
  it("writes anew whichever blob is damaged or missing, of what is served, newest and long past", async () => {
    const count = (await blobs(await scene())).length;
    let mended = 0;
    for (let i = 0; i < count; i += 1) {
      const store = await scene();
      const [key = ""] = (await blobs(store)).slice(i);
      if (i % 2 === 0) await store.delete(key);
      else await store.put(key, new TextEncoder().encode("{}"));
      const before = await fsck(store);
      const result = await mend(store);
      // A root that is damaged says no more what it was made from; the newest is made from what the sources hold.
      const isRoot = before.problems.some((problem) => problem.startsWith(`root ${blobOfKey(key)}`));
      if (!isRoot || result.mended > 0) expect(result.problems).toEqual([]);
      mended += result.mended;
    }
    expect(mended).toBeGreaterThan(count / 2);
  });

  it("mends a store that has lost nearly everything, as deep as blobs name one another", async () => {
    const store = await scene();
    const roots = new Set((await readHead(store))?.head.steps.map(({ root }) => root));
    for (const key of await blobs(store)) {
      const found = await store.get(key);
      const text = new TextDecoder().decode(found.kind === "found" ? found.bytes : undefined);
      if (!roots.has(blobOfKey(key) ?? "") && !/^\{"(generation|format|compiler)"/.test(text)) await store.delete(key);
    }
    const { problems, mended } = await mend(store);
    expect(problems).toEqual([]);
    expect(mended).toBeGreaterThan(2);
  });

  it("names what it cannot mend, and writes nothing else", async () => {
    const store = await scene();
    for (const { key } of await allOf(store.list("sources/"))) await store.delete(key);
    const [step] = (await readHead(store))?.head.steps ?? [];
    await store.delete(`blobs/${step?.root.slice(0, 2)}/${step?.root}`);
    const { problems, mended } = await mend(store);
    expect(mended).toBe(0);
    expect(problems.join()).toContain(step?.root);
  });

  it("has nothing to do in a store that is whole", async () => {
    const store = await scene();
    const before = await allOf(store.list(""));
    expect(await mend(store)).toMatchObject({ mended: 0, problems: [] });
    expect(await allOf(store.list(""))).toEqual(before);
  });
});

describe("sources", () => {
  it("that lack a text are named: whoever fills them can mend that", async () => {
    const store = await scene();
    const [text] = await allOf(store.list("sources/zoo/files/"));
    await store.delete(text?.key ?? "");
    expect(await sourceProblems(store)).toEqual(["source zoo lacks the content of z.yaml; fill it again"]);
  });
});
