import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import picocolors from "picocolors";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runCli } from "../../lib/cli/program.ts";
import { type CollectorOptions, createCollector } from "../../lib/collect/collector.ts";
import { createCollectedReader } from "../../lib/compile/collected/collected-shard.ts";
import { fileStore } from "../../lib/storage/files/files.ts";
import { memoryStore } from "../../lib/storage/memory.ts";
import type { ObjectStore } from "../../lib/storage/object-store.ts";
import { FakeOrigin, put, thing } from "./fake-origin.ts";

/** Fills a source once with what an origin of this identity holds. */
async function fill(store: ObjectStore, which: string | undefined, name: string, more: Partial<CollectorOptions> = {}) {
  const origin = new FakeOrigin();
  origin.which = which;
  const filled = createCollector({ store, source: "cluster", origin, ...more }).once();
  await origin.following;
  origin.whole("all", [thing(name)]);
  await filled;
}

const keys = async (store: ObjectStore) => [
  ...((await createCollectedReader(store, "cluster")())?.objects.keys() ?? []),
];

describe("a source that an origin has filled", () => {
  it("is refused to another origin of its kind, and told by whom it is filled", async () => {
    const store = memoryStore();
    await fill(store, "cluster 8d1f", "a");
    await expect(fill(store, "cluster 77c0", "b")).rejects.toThrow(
      "source cluster is of another origin, the cluster Kubernetes (cluster 8d1f), " +
        "and this is the cluster Kubernetes (cluster 77c0); give this one a source of its own, or say --take-over",
    );
    expect(await keys(store)).toEqual(["Service/shop/a"]);
  });

  it.each([
    ["is the same", "cluster 8d1f"],
    ["is not known", undefined],
    ["is known in another way", "address http://127.0.0.1:8500/dc1"],
  ])("goes on to one whose identity %s, and keeps what is known", async (_what, which) => {
    const store = memoryStore();
    await fill(store, "cluster 8d1f", "a");
    await fill(store, which, "b");
    expect(await keys(store)).toEqual(["Service/shop/b"]);
    await expect(fill(store, which === undefined ? "cluster 77c0" : `${which}x`, "c")).rejects.toThrow(
      "another origin",
    );
  });

  it("of which nobody has said so far which one it is learns it from whoever goes on", async () => {
    const store = memoryStore();
    await fill(store, undefined, "a");
    await fill(store, "cluster 8d1f", "a");
    await expect(fill(store, "cluster 77c0", "b")).rejects.toThrow("another origin");
  });

  it("is taken over where that is said, and whoever filled it so far finds that out, and leaves it alone", async () => {
    const store = memoryStore();
    const origin = new FakeOrigin();
    origin.which = "cluster 8d1f";
    const troubles: string[] = [];
    const pace = { pause: () => new Promise<void>((resolve) => setImmediate(resolve)), backOff: () => 0 };
    // It may take over, too, but has done so once.
    const first = createCollector({
      store,
      source: "cluster",
      origin,
      takeOver: true,
      gatherMs: 0,
      pace,
      troubled: (reason) => void troubles.push(reason),
    });
    const stop = new AbortController();
    const running = first.run(stop.signal);
    await origin.following;
    origin.whole("all", [thing("a")]);
    while (!first.state().isFilled) await new Promise((resolve) => setImmediate(resolve));

    await fill(store, "cluster 77c0", "b", { takeOver: true });
    // Nothing changes in its origin: a sign of life is enough to notice.
    while (troubles.length === 0) await new Promise((resolve) => setImmediate(resolve));
    expect(troubles[0]).toContain("is of another origin, the cluster Kubernetes (cluster 77c0)");
    origin.changed("all", put(thing("c")));
    for (let turn = 0; turn < 50; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    expect(await keys(store)).toEqual(["Service/shop/b"]);
    stop.abort();
    await running;
  });

  it("is written anew when somebody has taken it away", async () => {
    const store = memoryStore();
    const origin = new FakeOrigin();
    const pace = { pause: () => new Promise<void>((resolve) => setImmediate(resolve)), backOff: () => 0 };
    const collector = createCollector({ store, source: "cluster", origin, gatherMs: 0, pace });
    const stop = new AbortController();
    const running = collector.run(stop.signal);
    await origin.following;
    origin.whole("all", [thing("a")]);
    while (!collector.state().isFilled) await new Promise((resolve) => setImmediate(resolve));
    for await (const { key } of store.list("sources/cluster/")) await store.delete(key);
    while ((await keys(store)).length === 0) await new Promise((resolve) => setImmediate(resolve));
    expect(await keys(store)).toEqual(["Service/shop/a"]);
    stop.abort();
    await running;
  });
});

describe("a source that a folder fills", () => {
  let folder = "";
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "portolan-one-writer-"));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it("is refused to another folder that is collected, unless that is said", async () => {
    const said: string[] = [];
    const terminal = {
      out: (line: string) => void said.push(line),
      err: (line: string) => void said.push(line),
      colours: picocolors.createColors(false),
    };
    const store = join(folder, "store");
    const collect = async (name: string, ...more: readonly string[]) => {
      const dir = await mkdtemp(join(folder, `${name}-`));
      await writeFile(join(dir, "ns.yaml"), `{apiVersion: v1, kind: Namespace, metadata: {name: ${name}}}`);
      said.length = 0;
      return runCli(
        ["node", "portolan", "collect", "dir", dir, "--once", "--no-compile", "--store", store, ...more],
        terminal,
      );
    };
    expect(await collect("one")).toBe(0);
    expect(await collect("two")).toBe(1);
    expect(said.join("\n")).toMatch(/source main is filled from folder .*one-.*, and this is folder .*two-/);
    expect(await collect("two", "--take-over")).toBe(0);
    const list = await fileStore(store).get("sources/main/list");
    expect(list.kind === "found" && new TextDecoder().decode(list.bytes)).toMatch(/"origin":"folder .*two-/);
  });
});
