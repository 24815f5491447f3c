import { describe, expect, it } from "vitest";
import { createRecompiler, createSourcesCompiler } from "../../lib/compile/recompile.ts";
import { collectedSources } from "../../lib/compile/shards/collect-sources.ts";
import { readShard } from "../../lib/compile/shards/read-shard.ts";
import { writeShard } from "../../lib/compile/shards/write-shard.ts";
import { resourcesIn } from "../../lib/snapshot/compiled.ts";
import { collectGarbage } from "../../lib/snapshot/upkeep/collect-garbage.ts";
import { memoryStore } from "../../lib/storage/memory.ts";
import type { ObjectStore } from "../../lib/storage/object-store.ts";
import { overlayStore } from "../../lib/storage/overlay.ts";
import { allOf } from "../all-of.ts";

const service = (name: string, port = 80) => `apiVersion: v1
kind: Service
metadata: { name: ${name}, namespace: shop }
spec: { clusterIP: 10.0.0.1, ports: [{ name: http, port: ${port} }] }
`;
const pod = `apiVersion: v1
kind: Pod
metadata: { name: web, namespace: shop, labels: { app: web, security.istio.io/tlsMode: istio } }
spec: { serviceAccountName: web }
status: { podIP: 10.1.0.1, phase: Running }
`;
const main = [{ file: "main.yaml", text: `${service("a")}---\n${pod}` }];
const other = [{ file: "other.yaml", text: service("b") }];

/** Names of the outbound clusters of the one class that there is. */
async function clustersOf(store: ObjectStore): Promise<readonly string[]> {
  const { compiled } = await createSourcesCompiler({ store })();
  const names = compiled.value.classes.flatMap(({ stream }) => resourcesIn(stream.clusters).map(({ name }) => name));
  return [...new Set(names)].filter((name) => /shop\.svc/.test(name)).sort();
}

const cluster = (name: string, port = 80) => `outbound|${port}||${name}.shop.svc.cluster.local`;

describe("the sources of a store", () => {
  it("add up, whoever compiles them and whatever he was told of", async () => {
    const store = memoryStore();
    await writeShard(store, "main", main);
    await writeShard(store, "team/b", other);
    await writeShard(store, "team", [{ file: "c.yaml", text: service("c") }]);
    expect(await clustersOf(store)).toEqual([cluster("a"), cluster("b"), cluster("c")]);
    const [first, second] = [
      await createRecompiler({ store, sources: ["main"] })(),
      await createRecompiler({ store, sources: ["main", "nobody"] })(),
    ];
    expect(second).toMatchObject({ kind: "unchanged", version: first.version, primary: "main" });
  });

  it("are compiled in the order that was once said, else main first and the others by name", async () => {
    const store = memoryStore();
    for (const name of ["z", "main", "b"]) await writeShard(store, name, [{ file: "a.yaml", text: service("a") }]);
    const orderOf = async (sources?: readonly string[]) => {
      const { compiled } = await createSourcesCompiler({ store, ...(sources && { sources }) })();
      return compiled.value.sources.map(({ name }) => name);
    };
    expect(await orderOf()).toEqual(["main", "b", "z"]);
    expect(await orderOf(["z"])).toEqual(["z", "main", "b"]);
    expect(await orderOf()).toEqual(["z", "main", "b"]);
  });

  it("are compiled by the same settings by whoever comes next without any", async () => {
    const store = memoryStore();
    await writeShard(store, "main", main);
    const { version } = await createRecompiler({ store, change: { binaryForms: true } })();
    expect(await createRecompiler({ store })()).toMatchObject({ kind: "unchanged", version });
    expect((await createRecompiler({ store, change: { binaryForms: false } })()).kind).toBe("published");
  });

  it("take what is applied beside what is pushed, and what is applied counts where both say something", async () => {
    const store = memoryStore();
    await writeShard(store, "main", main);
    const applied = [{ file: "Service/shop/b.yaml", text: service("b") }];
    await writeShard(store, "main", applied, { part: "applied" });
    expect(await clustersOf(store)).toEqual([cluster("a"), cluster("b")]);
    await writeShard(store, "main", [...main, { file: "x.yaml", text: service("x") }]);
    expect(await clustersOf(store)).toEqual([cluster("a"), cluster("b"), cluster("x")]);
    await writeShard(store, "main", [{ file: "Service/shop/a.yaml", text: service("a", 81) }], { part: "applied" });
    expect(await clustersOf(store)).toEqual([cluster("x"), cluster("a", 81)]);
  });

  it("take over what apply wrote before its objects were told from a folder's", async () => {
    const store = memoryStore();
    await writeShard(store, "main", [...main, { file: "Service/shop/old.yaml", text: service("old") }]);
    const list = await store.get("sources/main/list");
    const text = list.kind === "found" ? new TextDecoder().decode(list.bytes) : "";
    await store.put("sources/main/list", new TextEncoder().encode(text.replace('"hasParts":true,', "")));
    await writeShard(store, "main", [{ file: "Service/shop/b.yaml", text: service("b") }], { part: "applied" });
    expect(await clustersOf(store)).toEqual([cluster("a"), cluster("b")]);
  });

  it("lose nothing of two writers at a time", async () => {
    const store = memoryStore();
    await Promise.all([
      writeShard(store, "main", main),
      ...Array.from({ length: 5 }, () =>
        writeShard(store, "main", [{ file: "Service/shop/b.yaml", text: service("b") }], { part: "applied" }),
      ),
    ]);
    expect(await clustersOf(store)).toEqual([cluster("a"), cluster("b")]);
  });

  it("are never emptied by mistake, one or all", async () => {
    const store = memoryStore();
    await writeShard(store, "main", main);
    await expect(writeShard(store, "main", [], { allowEmpty: false })).rejects.toMatchObject({
      diagnostics: [{ code: "empty-source" }],
    });
    await writeShard(store, "main", []);
    await expect(createRecompiler({ store })()).rejects.toMatchObject({ diagnostics: [{ code: "empty-source" }] });
    await writeShard(store, "main", [], { allowEmpty: true });
    expect((await createRecompiler({ store })()).kind).toBe("published");
  });

  it("whose text was damaged are mended by filling them again", async () => {
    const store = memoryStore();
    await writeShard(store, "main", main);
    for (const { key } of await allOf(store.list("sources/main/files/"))) {
      await store.put(key, new TextEncoder().encode("something else"));
    }
    await expect(readShard(store, "main")).rejects.toThrow("lacks the content of main.yaml");
    await writeShard(store, "main", main);
    expect(await clustersOf(store)).toEqual([cluster("a")]);
  });
});

describe("texts of sources that nothing names any more", () => {
  it("are collected, but for those that a kept root was compiled from, and the history of what was applied", async () => {
    let nowMs = Date.UTC(2026, 0, 1);
    const now = () => nowMs;
    const store = memoryStore(now);
    const recompile = createRecompiler({ store, publisher: { now, pace: { settleMs: 0, retentionMs: 0 } } });
    await store.put("sources/main/ledger/blobs/x", new Uint8Array());
    for (const port of [1, 2, 3]) {
      await writeShard(store, "main", [{ file: "a.yaml", text: service("a", port) }]);
      await recompile();
    }
    await writeShard(store, "main", [{ file: "a.yaml", text: service("a", 4) }]);
    const options = { keepPublications: 2, graceMs: 1_000, now, others: [collectedSources] };
    for (let i = 0; i < 3; i += 1) {
      nowMs += 10_000;
      await collectGarbage(store, options);
    }
    const count = async (kind: string) => (await allOf(store.list(`sources/main/${kind}/`))).length;
    // Two kept roots, the one that brought the configuration, and what the source holds now, whose list no root names yet.
    expect([await count("files"), await count("versions"), await count("ledger")]).toEqual([4, 4, 1]);
    for (const { name, version } of (await createSourcesCompiler({ store })()).compiled.value.sources) {
      expect((await readShard(store, name))?.version).toBe(version);
    }
  });

  it("are written again by whoever fills a source with them while they are being deleted", async () => {
    let nowMs = Date.UTC(2026, 0, 1);
    const now = () => nowMs;
    const store = memoryStore(now);
    const fill = (port: number) => writeShard(store, "main", [{ file: "a.yaml", text: service("a", port) }]);
    await fill(1);
    await createRecompiler({ store, publisher: { now } })();
    await fill(2);
    await createRecompiler({ store, publisher: { now } })();
    await fill(3);
    await createRecompiler({ store, publisher: { now, pace: { settleMs: 0, retentionMs: 0 } } })();
    let filling: Promise<unknown> | undefined;
    const slow: ObjectStore = {
      ...store,
      async delete(key) {
        await store.delete(key);
        filling ??= fill(1);
        await new Promise((resolve) => setTimeout(resolve, 10));
      },
    };
    for (let i = 0; i < 2; i += 1) {
      nowMs += 60_000;
      await collectGarbage(slow, { keepPublications: 1, graceMs: 1_000, now, others: [collectedSources] });
    }
    await filling;
    expect((await readShard(store, "main"))?.files[0]?.text).toBe(service("a", 1));
  });
});

describe("an overlay", () => {
  it("shows what would come of a push, and leaves the store alone", async () => {
    const store = memoryStore();
    await writeShard(store, "main", main);
    const before = await allOf(store.list(""));
    const trial = overlayStore(store);
    await writeShard(trial, "b", other);
    expect(await clustersOf(trial)).toEqual([cluster("a"), cluster("b")]);
    expect(await allOf(store.list(""))).toEqual(before);
    expect(await clustersOf(store)).toEqual([cluster("a")]);
  });
});
