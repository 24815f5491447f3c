import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type CollectorOptions, createCollector } from "../../lib/collect/collector.ts";
import type { Push } from "../../lib/collect/source-pushes.ts";
import { createCollectedReader } from "../../lib/compile/collected/collected-shard.ts";
import { readShardState } from "../../lib/compile/collected/shard-state.ts";
import { createRecompiler } from "../../lib/compile/recompile.ts";
import { collectedSources } from "../../lib/compile/shards/collect-sources.ts";
import { writeShard } from "../../lib/compile/shards/write-shard.ts";
import type { OriginObject } from "../../lib/registry/origin/origin.ts";
import type { Root } from "../../lib/snapshot/root.ts";
import { memoryStore } from "../../lib/storage/memory.ts";
import type { ObjectStore } from "../../lib/storage/object-store.ts";
import { overlayStore } from "../../lib/storage/overlay.ts";
import { propertyRuns } from "../soak-options.ts";
import { FakeOrigin, gone, put, thing } from "./fake-origin.ts";

/** A collector at work over an origin that a test speaks for. */
function collecting(origin: FakeOrigin, store: ObjectStore, more: Partial<CollectorOptions> = {}) {
  const pushes: Push[] = [];
  const troubles: string[] = [];
  const stop = new AbortController();
  const collector = createCollector({
    store,
    source: "cluster",
    origin,
    gatherMs: 0,
    pace: { pause: () => new Promise((resolve) => setImmediate(resolve)), backOff: () => 0 },
    pushed: (push) => void pushes.push(push),
    troubled: (reason) => void troubles.push(reason),
    ...more,
  });
  const running = collector.run(stop.signal);
  const end = async () => {
    stop.abort();
    await running;
  };
  return { collector, pushes, troubles, end, running };
}

const until = async (holds: () => boolean | Promise<boolean>): Promise<void> => {
  for (let turn = 0; turn < 5000; turn += 1) {
    if (await holds()) return;
    await new Promise((resolve) => setImmediate(resolve));
  }
  throw new Error("never came to hold");
};

/** What a reader finds: keys with versions, sorted. */
async function held(store: ObjectStore): Promise<readonly string[] | undefined> {
  const shard = await createCollectedReader(store, "cluster")();
  return shard && [...shard.objects.values()].map(({ key, version }) => `${key}@${version}`).sort();
}

describe("a collector", () => {
  it("pushes nothing before every part was read as a whole", async () => {
    const store = memoryStore();
    const origin = new FakeOrigin(["services", "pods"]);
    const { pushes, end, collector } = collecting(origin, store);
    await origin.following;
    origin.whole("services", [thing("a")]);
    origin.changed("services", put(thing("b")));
    for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    expect([pushes, collector.state().isFilled, await held(store)]).toEqual([[], false, undefined]);
    origin.whole("pods", []);
    await until(() => pushes.length === 1);
    expect(await held(store)).toEqual(["Service/shop/a@1", "Service/shop/b@1"]);
    expect(collector.state()).toMatchObject({ isFilled: true, objects: 2, failure: "" });
    await end();
  });

  it("pushes what changed, several changes as one, and no new version of the same", async () => {
    const store = memoryStore();
    const origin = new FakeOrigin();
    const { pushes, end } = collecting(origin, store);
    await origin.following;
    origin.whole("all", [thing("a"), thing("b"), thing("c")]);
    await until(() => pushes.length === 1);
    origin.changed("all", put(thing("a", "2")));
    origin.changed("all", put(thing("b", "3", { spec: { type: "ClusterIP" } })), gone(thing("c")));
    await until(() => pushes.length === 2);
    expect(pushes[1]).toMatchObject({ changes: 2, objects: 2 });
    expect(await held(store)).toEqual(["Service/shop/a@1", "Service/shop/b@3"]);
    await end();
  });

  it("takes a part's new whole for all that it holds, and leaves the other parts alone", async () => {
    const store = memoryStore();
    const origin = new FakeOrigin(["services", "pods"]);
    const { pushes, end } = collecting(origin, store);
    await origin.following;
    origin.whole("services", [thing("a"), thing("b")]);
    origin.whole("pods", [thing("p")]);
    await until(() => pushes.length === 1);
    origin.whole("services", [thing("b"), thing("d")]);
    await until(() => pushes.length === 2);
    expect(await held(store)).toEqual(["Service/shop/b@1", "Service/shop/d@1", "Service/shop/p@1"]);
    await end();
  });

  it("goes on after its own restart with what differs", async () => {
    const store = memoryStore();
    const all = Array.from({ length: 400 }, (_, i) => thing(`s${i}`));
    const first = new FakeOrigin();
    const before = collecting(first, store);
    await first.following;
    first.whole("all", all);
    await until(() => before.pushes.length === 1);
    await before.end();
    const origin = new FakeOrigin();
    const { pushes, end } = collecting(origin, store);
    await origin.following;
    origin.whole("all", [...all.slice(1).map((one) => ({ ...one, version: "9" })), thing("new")]);
    await until(() => pushes.length === 1);
    expect(pushes[0]?.changes).toBe(2);
    expect(pushes[0]?.sizeBytes).toBeLessThan(20_000);
    expect(await held(store)).toContain("Service/shop/s7@1");
    await end();
  });

  it.each(["nothing has changed", "something has changed besides"])(
    "writes anew what its source has lost, when it is begun again and %s",
    async (what) => {
      const store = memoryStore();
      const fill = async (objects: readonly OriginObject[]) => {
        const origin = new FakeOrigin();
        const filled = createCollector({ store, source: "cluster", origin }).once();
        await origin.following;
        origin.whole("all", objects);
        await filled;
      };
      const objects = Array.from({ length: 300 }, (_, at) => thing(`thing-${at}`));
      await fill(objects);
      const nodes = [];
      for await (const { key } of store.list("sources/cluster/nodes/")) nodes.push(key);
      expect(nodes.length).toBeGreaterThan(20);
      for (const [at, key] of nodes.entries()) if (at % 3 === 0) await store.delete(key);
      await expect(held(store)).rejects.toThrow("lacks some of its collected objects");
      await fill(what === "nothing has changed" ? objects : [...objects.slice(1), thing("new")]);
      expect((await held(store))?.length).toBe(300);
    },
  );

  it("reads no more of its source than differs, and writes nothing for new versions of the same", async () => {
    const under = memoryStore();
    const puts: string[] = [];
    const gets: string[] = [];
    const store: ObjectStore = {
      ...under,
      get: async (key, ...more) => {
        gets.push(key);
        return under.get(key, ...more);
      },
      put: async (key, ...more) => {
        puts.push(key);
        return under.put(key, ...more);
      },
    };
    const fill = async (objects: readonly OriginObject[]) => {
      const origin = new FakeOrigin();
      const filled = createCollector({ store, source: "cluster", origin }).once();
      await origin.following;
      origin.whole("all", objects);
      await filled;
    };
    const objects = Array.from({ length: 2_000 }, (_, at) => thing(`thing-${at}`));
    await fill(objects);
    const nodes = (keys: readonly string[]) => keys.filter((key) => key.includes("/nodes/")).length;
    const [all] = [nodes(puts)];
    expect(all).toBeGreaterThan(150);
    puts.length = 0;
    gets.length = 0;
    await fill(objects.map((one, at) => (at % 500 === 0 ? thing(`thing-${at}`, "2") : one)));
    expect([nodes(puts), nodes(gets) < 20]).toEqual([0, true]);
    // Every leaf differs: all of it is read, and still nothing written.
    await fill(Array.from({ length: 2_000 }, (_, at) => thing(`thing-${at}`, "3")));
    expect(nodes(puts)).toBe(0);
    expect((await held(store))?.includes("Service/shop/thing-7@1")).toBe(true);
  });

  it("writes a few kilobytes for one object among thousands", async () => {
    const store = memoryStore();
    const origin = new FakeOrigin();
    const { pushes, end } = collecting(origin, store);
    await origin.following;
    origin.whole(
      "all",
      Array.from({ length: 20_000 }, (_, i) => thing(`s${i}`, "1", { spec: { text: "x".repeat(500) } })),
    );
    await until(() => pushes.length === 1);
    origin.changed("all", put(thing("s77", "2", { spec: { text: "y".repeat(500) } })));
    await until(() => pushes.length === 2);
    expect(pushes[1]?.sizeBytes).toBeLessThan(20_000);
    await end();
  });

  it("keeps what a part held that cannot be read, and says so beside the shard", async () => {
    const store = memoryStore();
    const origin = new FakeOrigin(["services", "pods"]);
    let nowMs = 1000;
    const { pushes, troubles, end, collector } = collecting(origin, store, { now: () => nowMs });
    await origin.following;
    origin.whole("services", [thing("a")]);
    origin.whole("pods", [thing("p")]);
    await until(() => pushes.length === 1);
    nowMs = 2000;
    origin.sink?.failed("pods", "403 Forbidden");
    origin.changed("services", put(thing("b")));
    await until(() => pushes.length === 2);
    expect(await held(store)).toEqual(["Service/shop/a@1", "Service/shop/b@1", "Service/shop/p@1"]);
    await until(async () => (await readShardState(store, "cluster"))?.failure !== "");
    expect(await readShardState(store, "cluster")).toEqual({ asOfMs: 1000, failure: "pods: 403 Forbidden" });
    nowMs = 3000;
    origin.sink?.followed("pods");
    await until(() => collector.state().asOfMs === 3000 && troubles.length === 2);
    expect(troubles).toEqual(["pods: 403 Forbidden", ""]);
    await end();
  });

  it("is told of by whoever compiles when it has given no sign of life for a minute, with the mesh as it was", async () => {
    const store = memoryStore();
    const origin = new FakeOrigin();
    const { pushes, end } = collecting(origin, store, { now: () => 1_000_000 });
    await origin.following;
    origin.whole("all", [thing("a")]);
    await until(() => pushes.length === 1);
    await end();
    const at = (nowMs: number) => createRecompiler({ store, now: () => nowMs })();
    const fresh = await at(1_050_000);
    const stale = await at(1_070_000);
    expect(fresh.diagnostics).toEqual([]);
    expect(stale.diagnostics).toMatchObject([
      { code: "registry-stale", severity: "warning", origin: { file: "cluster" } },
    ]);
    expect(stale.diagnostics[0]?.message).toContain("1970-01-01T00:16:40.000Z");
    expect([stale.kind, stale.version]).toEqual(["unchanged", fresh.version]);
  });

  it("is told of by whoever compiles when its clock is ahead, which would hide that it is stale", async () => {
    const store = memoryStore();
    const origin = new FakeOrigin();
    const { pushes, end } = collecting(origin, store, { now: () => 1_000_000 });
    await origin.following;
    origin.whole("all", [thing("a")]);
    await until(() => pushes.length === 1);
    await end();
    const { diagnostics } = await createRecompiler({ store, now: () => 900_000 })();
    expect(diagnostics).toMatchObject([{ code: "registry-stale", severity: "warning", origin: { file: "cluster" } }]);
    expect(diagnostics[0]?.message).toContain("100 s from now");
  });

  it("never empties a source that holds something, unless that is meant", async () => {
    const store = memoryStore();
    const origin = new FakeOrigin();
    const { pushes, troubles, end } = collecting(origin, store);
    await origin.following;
    origin.whole("all", [thing("a")]);
    await until(() => pushes.length === 1);
    origin.whole("all", []);
    await until(() => troubles.length === 1);
    expect(troubles[0]).toContain("is empty, and every proxy");
    expect(await held(store)).toEqual(["Service/shop/a@1"]);
    await end();
    const meant = new FakeOrigin();
    const again = collecting(meant, store, { allowEmpty: true });
    await meant.following;
    meant.whole("all", []);
    await until(() => again.pushes.length === 1);
    expect(await createCollectedReader(store, "cluster")()).toMatchObject({ isMeantEmpty: true });
    await again.end();
  });

  it("leaves a source alone that a folder has filled", async () => {
    const store = memoryStore();
    await writeShard(store, "cluster", [{ file: "a.yaml", text: "" }]);
    const origin = new FakeOrigin();
    const { troubles, end } = collecting(origin, store);
    await origin.following;
    origin.whole("all", [thing("a")]);
    await until(() => troubles.length > 0);
    expect(troubles[0]).toContain("give the collector a source of its own");
    await end();
  });

  it("has its source to itself: a folder that would take its place is refused, and told whose it is", async () => {
    const store = memoryStore();
    const origin = new FakeOrigin();
    const { pushes, end } = collecting(origin, store);
    await origin.following;
    origin.whole("all", [thing("a")]);
    await until(() => pushes.length === 1);
    for (const part of ["folder", "applied"] as const)
      await expect(writeShard(store, "cluster", [{ file: "a.yaml", text: "" }], { part })).rejects.toThrow(
        "source cluster is filled by a collector, from the cluster Kubernetes",
      );
    expect((await store.get("sources/cluster/list")).kind).toBe("absent");
    await end();
  });

  it("says that a folder has taken its source's place, also while nothing changes, and goes on when it is gone", async () => {
    const store = memoryStore();
    const origin = new FakeOrigin();
    const { troubles, pushes, end } = collecting(origin, store);
    await origin.following;
    origin.whole("all", [thing("a")]);
    await until(() => pushes.length === 1);
    // As a release before would have written it.
    await store.put("sources/cluster/list", new TextEncoder().encode("{}"));
    await until(() => troubles.length > 0);
    expect(troubles).toEqual(["source cluster is filled by `push` or `apply`; give the collector a source of its own"]);
    await store.delete("sources/cluster/list");
    origin.changed("all", put(thing("b")));
    await until(() => troubles.at(-1) === "" && pushes.length === 2);
    await end();
  });

  it("loses no change while the store is away, and none to another writer", async () => {
    const under = memoryStore();
    let isAway = false;
    const store: ObjectStore = {
      ...under,
      put: async (...args) => {
        if (isAway) throw new Error("the store is away");
        return under.put(...args);
      },
    };
    const origin = new FakeOrigin();
    const { troubles, pushes, end } = collecting(origin, store);
    await origin.following;
    origin.whole("all", [thing("a")]);
    await until(() => pushes.length === 1);
    isAway = true;
    origin.changed("all", put(thing("b")));
    await until(() => troubles.length === 1);
    origin.changed("all", put(thing("c")), gone(thing("a")));
    isAway = false;
    await until(() => pushes.length > 1 && troubles.at(-1) === "");
    expect(await held(under)).toEqual(["Service/shop/b@1", "Service/shop/c@1"]);
    // Somebody else writes the same source.
    const other = new FakeOrigin();
    const intruder = collecting(other, under);
    await other.following;
    other.whole("all", [thing("z")]);
    await until(() => intruder.pushes.length === 1);
    await intruder.end();
    origin.changed("all", put(thing("d")));
    await until(async () => (await held(under))?.join() === "Service/shop/b@1,Service/shop/c@1,Service/shop/d@1");
    await end();
  });

  it("once fails with nothing pushed where a part cannot be read", async () => {
    const store = memoryStore();
    const origin = new FakeOrigin(["services", "pods"]);
    const collector = createCollector({ store, source: "cluster", origin });
    const done = collector.once();
    await origin.following;
    origin.whole("services", [thing("a")]);
    origin.sink?.failed("pods", "403 Forbidden");
    await expect(done).rejects.toThrow("source cluster was left as it was: pods: 403 Forbidden");
    expect(await held(store)).toBeUndefined();
  });

  it("comes to what the origin holds, whatever was told in between and wherever pushes broke off", async () => {
    const name = fc.integer({ min: 0, max: 40 }).map((i) => `s${i}`);
    const version = fc.integer({ min: 1, max: 3 }).map(String);
    const act = fc.oneof(
      fc.record({ put: name, version }),
      fc.record({ gone: name }),
      fc.record({ whole: fc.uniqueArray(name, { maxLength: 30 }), version }),
      fc.constant("breathe" as const),
      fc.constant("fail" as const),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(act, { maxLength: 25 }), async (acts) => {
        const under = memoryStore();
        let failing = 0;
        const store = overlayFailing(under, () => failing-- > 0);
        const origin = new FakeOrigin();
        const { end, pushes } = collecting(origin, store, { allowEmpty: true });
        await origin.following;
        const now = new Map<string, string>();
        origin.whole("all", []);
        for (const one of acts) {
          if (one === "breathe") await until(() => pushes.length >= 0);
          else if (one === "fail") failing = 3;
          else if ("put" in one) {
            now.set(one.put, one.version);
            origin.changed("all", put(thing(one.put, one.version, { spec: one.version })));
          } else if ("gone" in one) {
            now.delete(one.gone);
            origin.changed("all", gone(thing(one.gone)));
          } else {
            now.clear();
            for (const each of one.whole) now.set(each, one.version);
            origin.whole(
              "all",
              one.whole.map((each) => thing(each, one.version, { spec: one.version })),
            );
          }
          await new Promise((resolve) => setImmediate(resolve));
        }
        const wanted = [...now].map(([key, at]) => `Service/shop/${key}@${at}`).sort();
        await until(async () => (await held(under))?.join() === wanted.join());
        await end();
      }),
      { numRuns: propertyRuns(40) },
    );
  });
});

function overlayFailing(under: ObjectStore, fails: () => boolean): ObjectStore {
  return {
    ...under,
    put: async (...args) => {
      if (fails()) throw new Error("the store is away");
      return under.put(...args);
    },
  };
}

describe("collecting garbage", () => {
  it("keeps every node of what a collected source holds, and of versions that roots were compiled from", async () => {
    const store = memoryStore();
    const origin = new FakeOrigin();
    const { pushes, end } = collecting(origin, store);
    await origin.following;
    origin.whole(
      "all",
      Array.from({ length: 100 }, (_, i) => thing(`s${i}`)),
    );
    await until(() => pushes.length === 1);
    origin.changed("all", put(thing("s1", "2", { spec: {} })));
    await until(() => pushes.length === 2);
    origin.changed("all", put(thing("s1", "3", { spec: { type: "NodePort" } })));
    await until(() => pushes.length === 3);
    await end();
    const [first, second] = pushes;
    const root: Root = {
      compiler: "",
      sources: [{ name: "cluster", version: first?.version ?? "" }],
      tables: { clusters: "", endpoints: "", listeners: "", routes: "" },
      classes: "",
      classifier: "",
      nodes: [],
      diagnostics: "",
    };
    const history = { blobs: new Set<string>(), roots: new Map([["root", root]]), oldest: 0, held: [] };
    const stays = await collectedSources.stays(history, store);
    const keys: string[] = [];
    for await (const { key } of store.list("sources/")) keys.push(key);
    const doomed = keys.filter((key) => !stays(key));
    expect(doomed).toContain(`sources/cluster/versions/${second?.version}`);
    expect(doomed.some((key) => key.includes("/nodes/"))).toBe(true);
    const readable = overlayStore(store);
    for (const key of doomed) await readable.delete(key);
    const read = createCollectedReader(readable, "cluster");
    expect((await read())?.objects.size).toBe(100);
    expect((await read(first?.version))?.objects.size).toBe(100);
  });
});
