import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { blobKey } from "../../../lib/base/blob.ts";
import { createRecompiler, createWorldRecompiler } from "../../../lib/compile/recompile.ts";
import { writeShard } from "../../../lib/compile/shards/write-shard.ts";
import { createSliceCompiler } from "../../../lib/compile/slices/compile-slice.ts";
import type { SliceJob } from "../../../lib/compile/slices/plan.ts";
import { consoleLog, logObserver } from "../../../lib/compile/telemetry/log.ts";
import type { SourceFile } from "../../../lib/config/folder/directory.ts";
import { readFolder } from "../../../lib/config/folder/folder.ts";
import { newestRoot, readHead } from "../../../lib/snapshot/head/head.ts";
import { createSnapshotReader } from "../../../lib/snapshot/reader/snapshot-reader.ts";
import { fsck } from "../../../lib/snapshot/upkeep/fsck.ts";
import { reachableFrom } from "../../../lib/snapshot/upkeep/reachable.ts";
import { fileStore } from "../../../lib/storage/files/files.ts";
import { memoryStore } from "../../../lib/storage/memory.ts";
import type { ObjectStore } from "../../../lib/storage/object-store.ts";
import { syntheticMesh } from "../../bench/synthetic-mesh.ts";
import { madePartsIn } from "./parts-made.ts";

const files = await readFolder(new URL("../../../samples/bookshop", import.meta.url).pathname);

/** The bookshop after a change of one route. */
const changed: readonly SourceFile[] = [
  ...files,
  {
    file: "zz-more.yaml",
    text: [
      "apiVersion: networking.istio.io/v1",
      "kind: VirtualService",
      "metadata: {name: more, namespace: bookshop}",
      "spec: {hosts: [ratings], http: [{timeout: 7s, route: [{destination: {host: ratings}}]}]}",
      "",
    ].join("\n"),
  },
];

const fill = (store: ObjectStore, content: readonly SourceFile[]) => writeShard(store, "main", content);

/** One compile by a process that remembers nothing. */
async function cold(store: ObjectStore, build = "this one") {
  const { kind, version, diagnostics, compiled } = await createWorldRecompiler({ store, build })();
  return { kind, version, diagnostics, ...madePartsIn(compiled.value) };
}

/** What a store that holds nothing else comes to. */
async function fromNothing(content: readonly SourceFile[], build = "this one") {
  const store = memoryStore();
  await fill(store, content);
  return cold(store, build);
}

async function published(): Promise<ObjectStore> {
  const store = memoryStore();
  await fill(store, files);
  await cold(store);
  return store;
}

async function newestIn(store: ObjectStore): Promise<string> {
  const base = await readHead(store);
  return base === undefined ? "" : newestRoot(base.head);
}

describe("a process that starts cold", () => {
  const folder = mkdtempSync(join(tmpdir(), "portolan-cold-"));
  afterAll(() => rmSync(folder, { recursive: true }));

  it("takes what another process has left, makes the rest, and comes to the bytes of one that makes everything", async () => {
    const run = () => {
      const script = new URL("cold-process.ts", import.meta.url).pathname;
      const { stdout, stderr } = spawnSync(process.execPath, [script, folder, "this one"], { encoding: "utf8" });
      expect(stderr).toBe("");
      return JSON.parse(stdout);
    };
    const store = fileStore(folder, { durable: false });
    await fill(store, files);
    expect(run()).toMatchObject({ kind: "published", taken: 0 });
    await fill(store, changed);
    const second = run();
    const expected = await fromNothing(changed);
    expect(second).toMatchObject({ version: expected.version, diagnostics: expected.diagnostics });
    expect(second.taken).toBeGreaterThan(0);
    expect((await fsck(store)).problems).toEqual([]);
  }, 120_000);

  it("makes nothing where nothing has changed", async () => {
    const store = await published();
    expect(await cold(store)).toMatchObject({ kind: "unchanged", made: 0 });
  });

  it("makes no listeners to know which tables those ask for that stand", async () => {
    const store = memoryStore();
    const { text } = syntheticMesh(20);
    const made = async (written: string): Promise<number> => {
      await fill(store, [{ file: "input.yaml", text: written }]);
      return (await createWorldRecompiler({ store, build: "this one" })()).compiled.memo.misses;
    };
    const everything = await made(text);
    // With listeners it is a sixth.
    expect(await made(text.replace(/"timeout":"\d+s"/, '"timeout":"77s"'))).toBeLessThan(everything / 8);
  });

  it("refuses again what was refused, and says so, where something else has changed", async () => {
    const store = memoryStore();
    const faulty: readonly SourceFile[] = [
      ...files,
      { file: "yy-pod.yaml", text: "apiVersion: v1\nkind: Pod\nmetadata: {name: web}\nspec: {contaners: []}\n" },
      { file: "yy-rule.yaml", text: changed.at(-1)?.text.replaceAll("more", "less").replace("7s", "ever") ?? "" },
    ];
    await fill(store, faulty);
    const before = await cold(store);
    const more = [...faulty, ...changed.slice(-1)];
    await fill(store, more);
    const after = await cold(store);
    const expected = await fromNothing(more);
    expect(after).toMatchObject({ version: expected.version, diagnostics: expected.diagnostics });
    expect(after.taken).toBeGreaterThan(0);
    for (const { diagnostics } of [before, after]) {
      const refused = diagnostics.filter(({ severity }) => severity === "error");
      expect(refused.map(({ origin }) => origin.file)).toEqual(["yy-pod.yaml", "yy-rule.yaml"]);
    }
  });

  it("takes what slices have left as it takes what was compiled as a whole", async () => {
    const store = memoryStore();
    await fill(store, files);
    const build = "this one";
    const compile = createSliceCompiler(store, { build });
    const dispatch = async (job: SliceJob) => {
      await compile(job);
    };
    const fanOut = { dispatch, most: 3, sliceBytes: 1, waitMs: 5_000 };
    const { version } = await createRecompiler({ store, build, fanOut })();
    expect(version).toBe(await newestIn(await published()));
    expect(await cold(store)).toMatchObject({ kind: "unchanged", made: 0 });
  });

  it("goes on without a memory of what it took", async () => {
    const store = await published();
    const recompile = createWorldRecompiler({ store, build: "this one" });
    await recompile();
    await fill(store, changed);
    const { version, compiled } = await recompile();
    expect(version).toBe((await fromNothing(changed)).version);
    expect(madePartsIn(compiled.value).taken).toBeGreaterThan(0);
  });

  it("takes nothing of another compiler, nor of one that was told otherwise", async () => {
    const store = await published();
    expect(await cold(store, "another one")).toMatchObject({ kind: "published", taken: 0 });
    const { compiled } = await createWorldRecompiler({
      store,
      build: "another one",
      change: { certificates: "files" },
    })();
    expect(madePartsIn(compiled.value).taken).toBe(0);
  });

  it.each([
    ["another build has made the newest root", "another one", async () => {}, "another build"],
    [
      "what it was compiled from is kept no more",
      "this one",
      async (store: ObjectStore) => {
        for await (const { key } of store.list("sources/main/versions/")) await store.delete(key);
        await fill(store, changed);
        for await (const { key } of store.list("sources/main/versions/")) await store.delete(key);
      },
      "is not in this store",
    ],
    [
      "a blob is gone",
      "this one",
      async (store: ObjectStore) => {
        const { root } = await createSnapshotReader(store).root(await newestIn(store));
        await store.delete(blobKey(root.diagnostics));
        await fill(store, changed);
      },
      "",
    ],
  ])("says in its log why it makes everything: %s", async (_what, build, change, reason) => {
    const store = await published();
    await change(store);
    const lines: { readonly msg: string; readonly reason?: string; readonly missed?: string }[] = [];
    const log = consoleLog((line) => lines.push(JSON.parse(line)));
    await createRecompiler({ store, build, observer: logObserver(log) })();
    const warning = lines.find(({ msg }) => msg.startsWith("everything was compiled"));
    expect(warning?.reason).toContain(reason);
    expect(warning?.reason).not.toBe("");
    expect(lines.find(({ msg }) => msg.startsWith("compiled:"))?.missed).toBe(warning?.reason);
  });

  it("says nothing of it where it took what stands, goes on, or is the first", async () => {
    const store = memoryStore();
    await fill(store, files);
    const lines: string[] = [];
    const observer = logObserver(consoleLog((line) => lines.push(line)));
    await createRecompiler({ store, build: "this one", observer })();
    await fill(store, changed);
    const second = createRecompiler({ store, build: "this one", observer });
    await second();
    await fill(store, files);
    await second();
    expect(lines).toHaveLength(3);
    expect(lines.join("")).not.toContain("missed");
  });

  it("takes nothing where the caller looks into what was compiled", async () => {
    const store = await published();
    const { compiled } = await createWorldRecompiler({ store, build: "this one", looksInto: true })();
    expect(madePartsIn(compiled.value).taken).toBe(0);
  });

  it("makes everything that is missing, whichever blob it is, and mends it", async () => {
    const whole = await published();
    const reader = createSnapshotReader(whole);
    const root = await newestIn(whole);
    const hashes = [...(await reachableFrom(reader, root))].filter((hash) => hash !== root);
    const expected = await fromNothing(changed);
    for (const hash of hashes) {
      const store = await published();
      await store.delete(blobKey(hash));
      await fill(store, changed);
      const { version, diagnostics } = await cold(store);
      expect([hash, version, diagnostics]).toEqual([hash, expected.version, expected.diagnostics]);
      expect([hash, await isWhole(store, version)]).toEqual([hash, true]);
    }
  }, 120_000);

  it("makes everything where a blob has another size than it should, or the record of the root is none", async () => {
    const expected = await fromNothing(changed);
    const { root } = await createSnapshotReader(await published()).root(await newestIn(await published()));
    for (const bytes of ["", "{", "{}", '{"key":1}', "null"]) {
      const store = await published();
      await store.put(blobKey(root.standing ?? ""), new TextEncoder().encode(bytes));
      await fill(store, changed);
      expect(await cold(store)).toMatchObject({ version: expected.version, taken: 0 });
    }
  });

  it("makes everything where the sources of then are kept no more", async () => {
    const store = await published();
    await fill(store, changed);
    for await (const { key } of store.list("sources/main/versions/")) await store.delete(key);
    expect(await cold(store)).toMatchObject({ version: (await fromNothing(changed)).version, taken: 0 });
  });

  it("gives up what it took when somebody else moves HEAD", async () => {
    const store = await published();
    const recompile = createWorldRecompiler({ store, build: "this one" });
    expect(madePartsIn((await recompile()).compiled.value).taken).toBeGreaterThan(0);
    await fill(store, changed);
    await createRecompiler({ store, build: "this one" })();
    await fill(store, files);
    const { version, compiled } = await recompile();
    expect(version).toBe((await fromNothing(files)).version);
    expect(madePartsIn(compiled.value).taken).toBe(0);
  });
});

async function isWhole(store: ObjectStore, root: string): Promise<boolean> {
  const reader = createSnapshotReader(store);
  for (const hash of await reachableFrom(reader, root)) await reader.bytes(hash);
  return true;
}
