import { describe, expect, it } from "vitest";
import { blobKey } from "../../../lib/base/blob.ts";
import { PortolanError } from "../../../lib/base/diagnostic.ts";
import { createRecompiler, createSourcesCompiler } from "../../../lib/compile/recompile.ts";
import { readSource } from "../../../lib/compile/shards/read-source.ts";
import { createSourcesReader } from "../../../lib/compile/shards/read-sources.ts";
import { fileKey, listKey, versionKey } from "../../../lib/compile/shards/source-shard.ts";
import { writeShard } from "../../../lib/compile/shards/write-shard.ts";
import { createSliceCompiler } from "../../../lib/compile/slices/compile-slice.ts";
import type { FanOut } from "../../../lib/compile/slices/fan-out.ts";
import { newestRoot, readHead } from "../../../lib/snapshot/head/head.ts";
import { memoryStore } from "../../../lib/storage/memory.ts";
import type { ObjectStore } from "../../../lib/storage/object-store.ts";
import { bare, filesOf } from "../pods/manifests.ts";

const service = (name: string, port = 80) => ({
  apiVersion: "v1",
  kind: "Service",
  metadata: { name, namespace: "default" },
  spec: { clusterIP: "10.96.0.9", ports: [{ name: "http", port }] },
});
const pod = {
  ...bare("web-0", {}, { app: "web" }),
  metadata: { name: "web-0", namespace: "default", labels: { app: "web", "security.istio.io/tlsMode": "istio" } },
};
const bytes = (text: string) => new TextEncoder().encode(text);
const absent = "0".repeat(64);
const list = (files: readonly object[]) => bytes(JSON.stringify({ hasParts: true, files }));

/** What a broken writer, or one that means harm, leaves where a source's list should be. */
const broken: readonly (readonly [string, (store: ObjectStore) => Promise<unknown>])[] = [
  ["is garbage", (store) => store.put(listKey("b"), bytes("garbage"))],
  ["names an absent text", (store) => store.put(listKey("b"), list([{ file: "x.yaml", hash: absent }]))],
  [
    "names many absent texts",
    (store) =>
      store.put(
        listKey("b"),
        list(Array.from({ length: 50 }, (_, i) => ({ file: `${i}.yaml`, hash: `${i}`.padStart(64, "a") }))),
      ),
  ],
  [
    "names an absent run",
    (store) => store.put(listKey("b"), bytes(JSON.stringify({ hasParts: true, runs: [absent], applied: 0 }))),
  ],
  [
    "is gone for a collector's head that is none",
    async (store) => {
      await store.delete(listKey("b"));
      await store.put("sources/b/head", bytes('{"version":1}'));
    },
  ],
  [
    "is gone for a folder",
    async (store) => {
      await store.delete(listKey("b"));
      await store.put("sources/b/list/x", bytes("hello"));
    },
  ],
  [
    "is gone for a folder in the place of a head",
    async (store) => {
      await store.delete(listKey("b"));
      await store.put("sources/b/head/x", bytes("hello"));
    },
  ],
  [
    "is gone for a head that leads nowhere",
    async (store) => {
      await store.delete(listKey("b"));
      await store.put("sources/b/head", bytes(JSON.stringify({ about: { kind: "mcp" }, root: absent })));
    },
  ],
];

async function place() {
  const store = memoryStore();
  await writeShard(store, "main", filesOf([service("a"), pod]));
  const version = await writeShard(store, "b", filesOf([service("b")]));
  await createRecompiler({ store })();
  return { store, version };
}

const sourcesIn = async (store: ObjectStore) => {
  const { compiled } = await createSourcesCompiler({ store })();
  return new Map(compiled.value.sources.map(({ name, version }) => [name, version]));
};

describe("a source that cannot be read", () => {
  it.each(broken)(
    "keeps its last published version, and costs no other source its change: its list %s",
    async (_what, breakIt) => {
      const { store, version } = await place();
      await breakIt(store);
      const main = await writeShard(store, "main", filesOf([service("a", 81), pod]));
      const told = await createRecompiler({ store })();
      expect(told.kind).toBe("published");
      expect(told.diagnostics.filter(({ code }) => code === "unreadable-source")).toMatchObject([
        { severity: "error", origin: { file: "b" }, message: expect.stringContaining("is compiled in its place") },
      ]);
      expect(Object.fromEntries(await sourcesIn(store))).toEqual({ main, b: version });
    },
  );

  it.each(broken)(
    "compiles to the same bytes in a process that goes on as in a new one: its list %s",
    async (_what, breakIt) => {
      const { store } = await place();
      const warm = createRecompiler({ store });
      await warm();
      await breakIt(store);
      const { version } = await warm();
      expect(await createRecompiler({ store })()).toMatchObject({ kind: "unchanged", version });
    },
  );

  it.each(broken)("is kept where classes are compiled in slices: its list %s", async (_what, breakIt) => {
    const { store } = await place();
    await breakIt(store);
    await writeShard(store, "main", filesOf([service("a", 81), pod]));
    const compile = createSliceCompiler(store);
    const dispatch: FanOut["dispatch"] = async (job) => {
      await compile(job);
    };
    const fanOut = { dispatch, most: 2, sliceBytes: 1, waitMs: 10_000, pollMs: 1 };
    const { version } = await createRecompiler({ store, fanOut })();
    expect(await createRecompiler({ store })()).toMatchObject({ kind: "unchanged", version });
  });

  it("does not keep slices from being compiled where the newest root cannot be read, and fails the compile where it would be needed", async () => {
    const { store } = await place();
    const newest = async () =>
      newestRoot((await readHead(store))?.head ?? { generation: 0, publication: "", steps: [] });
    await store.delete(blobKey(await newest()));
    const compile = createSliceCompiler(store);
    const dispatch: FanOut["dispatch"] = async (job) => {
      await compile(job);
    };
    const fanOut = { dispatch, most: 2, sliceBytes: 1, waitMs: 10_000, pollMs: 1 };
    await writeShard(store, "main", filesOf([service("a", 81), pod]));
    expect((await createRecompiler({ store, fanOut })()).kind).toBe("published");
    await store.delete(blobKey(await newest()));
    await store.put(listKey("b"), bytes("garbage"));
    await expect(createRecompiler({ store, fanOut })()).rejects.toThrow();
    await expect(createRecompiler({ store })()).rejects.toThrow();
  });

  it("is compiled again as soon as it can be read, and nothing is said of it any more", async () => {
    const { store } = await place();
    const recompile = createRecompiler({ store });
    await store.put(listKey("b"), bytes("garbage"));
    await recompile();
    const mended = await writeShard(store, "b", filesOf([service("b", 82)]));
    const told = await recompile();
    expect(told.diagnostics.map(({ code }) => code)).not.toContain("unreadable-source");
    expect((await sourcesIn(store)).get("b")).toBe(mended);
  });

  it("is left out, and said to be, where it was never published", async () => {
    const { store } = await place();
    await store.put(listKey("new"), bytes("garbage"));
    const told = await createRecompiler({ store })();
    expect(told.diagnostics.filter(({ code }) => code !== "settings-not-primary")).toMatchObject([
      { code: "unreadable-source", origin: { file: "new" }, message: expect.stringContaining("is left out") },
    ]);
    expect([...(await sourcesIn(store)).keys()]).toEqual(["main", "b"]);
  });

  it("leaves HEAD alone where its published version is gone too: leaving it out would open what it protects", async () => {
    const { store, version } = await place();
    await store.put(listKey("b"), bytes("garbage"));
    await store.delete(versionKey("b", version));
    await expect(createRecompiler({ store })()).rejects.toThrow("source b is no list of files");
  });

  it("is not taken for one whose version somebody has overwritten", async () => {
    const { store, version } = await place();
    await store.put(versionKey("b", version), list([]));
    await store.put(listKey("b"), bytes("garbage"));
    await expect(createRecompiler({ store })()).rejects.toThrow("source b is no list of files");
  });

  it("says so where it is the only one, and was never read", async () => {
    const store = memoryStore();
    await store.put(listKey("main"), bytes("garbage"));
    const told = createRecompiler({ store })().catch((cause: unknown) => cause);
    expect(await told).toMatchObject({ message: expect.stringContaining("no source can be read"), diagnostics: [{}] });
  });

  it("is told from a store that does not answer, which fails the compile and keeps nothing", async () => {
    const { store } = await place();
    const flaky: ObjectStore = {
      ...store,
      async get(key, condition) {
        if (key === listKey("b")) throw new PortolanError("the store cannot be reached");
        return store.get(key, condition);
      },
    };
    await expect(createRecompiler({ store: flaky })()).rejects.toThrow("the store cannot be reached");
  });

  it("keeps nobody from reading another source by itself", async () => {
    const { store, version } = await place();
    await store.put(listKey("b"), bytes("garbage"));
    expect((await readSource(store, "main"))?.name).toBe("main");
    expect((await readSource(store, "b", version))?.version).toBe(version);
    await expect(readSource(store, "b")).rejects.toThrow("source b is no list of files");
  });

  it("fails whoever reads it without saying what is to become of it", async () => {
    const { store } = await place();
    await store.delete(fileKey("b", absent));
    await store.put(listKey("b"), list([{ file: "x.yaml", hash: absent }]));
    await expect(createSourcesReader(store)([])).rejects.toThrow("lacks the content of x.yaml");
  });
});
