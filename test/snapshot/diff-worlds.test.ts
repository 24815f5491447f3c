import { describe, expect, it } from "vitest";
import { createPublisher } from "../../lib/snapshot/publish.ts";
import { createSnapshotReader } from "../../lib/snapshot/reader/snapshot-reader.ts";
import { diffWorlds } from "../../lib/snapshot/worlds/diff-worlds.ts";
import { loadWorldLike } from "../../lib/snapshot/worlds/load-world.ts";
import { memoryStore } from "../../lib/storage/memory.ts";
import { worldOf } from "./worlds.ts";

describe("diffWorlds", () => {
  it("finds nothing between equal worlds", () => {
    const world = () => worldOf({ a: { clusters: { x: "1" } } });
    expect(diffWorlds(world(), world())).toEqual({
      classesAdded: [],
      classesRemoved: [],
      classesMoved: [],
      resources: [],
    });
  });

  it("tells what is added, removed and changed, by type and name, with the places and the objects behind them", () => {
    const before = worldOf({ a: { clusters: { x: "1", y: "1" }, routes: { "80": "90/10" } } });
    const after = worldOf({ a: { clusters: { y: "1", z: "1" }, routes: { "80": "50/50" } } });
    expect(diffWorlds(before, after).resources).toEqual([
      expect.objectContaining({ type: "clusters", name: "x", change: "removed", classes: ["a"] }),
      expect.objectContaining({ type: "clusters", name: "z", change: "added", shapes: ["stream", "poll"] }),
      {
        type: "routes",
        name: "80",
        change: "changed",
        classes: ["a"],
        shapes: ["stream", "poll"],
        from: ["VirtualService/default/80"],
        places: [{ path: "content", before: "90/10", after: "50/50" }],
      },
    ]);
  });

  it("tells a change that several classes share once, and different changes apart", () => {
    const before = worldOf({
      a: { routes: { "80": "1" } },
      b: { routes: { "80": "1" } },
      c: { routes: { "80": "1" } },
    });
    const after = worldOf({ a: { routes: { "80": "2" } }, b: { routes: { "80": "2" } }, c: { routes: { "80": "3" } } });
    expect(diffWorlds(before, after).resources.map(({ classes }) => classes)).toEqual([["a", "b"], ["c"]]);
  });

  it("tells classes that come and go", () => {
    const diff = diffWorlds(worldOf({ a: {}, b: {} }), worldOf({ b: {}, c: { clusters: { x: "1" } } }));
    expect(diff).toEqual({ classesAdded: ["c"], classesRemoved: ["a"], classesMoved: [], resources: [] });
  });

  describe("of classes whose ids have changed", () => {
    const nodes = (...pairs: readonly (readonly [string, ...string[]])[]) => ({
      nodes: pairs.map(([classId, ...keys]) => ({ keys, classId })),
    });
    const one = { routes: { "80": "1" } };
    const two = { routes: { "80": "2" } };

    it("tells what changes for the proxies that had the one and have the other", () => {
      const before = worldOf({ a: one, x: {} }, nodes(["a", "web-1.shop", "10.0.0.1"], ["x", "y.z"]));
      const after = worldOf({ b: two, x: {} }, nodes(["b", "web-1.shop", "10.0.0.1"], ["x", "y.z"]));
      expect(diffWorlds(before, after)).toMatchObject({
        classesAdded: [],
        classesRemoved: [],
        classesMoved: [{ before: "a", after: "b", who: ["web-1.shop"] }],
        resources: [{ name: "80", change: "changed", classes: ["b"] }],
      });
    });

    it("finds a class that parts in two under both", () => {
      const before = worldOf({ a: one }, nodes(["a", "v1.shop"], ["a", "v2.shop"]));
      const after = worldOf({ b: one, c: two }, nodes(["b", "v1.shop"], ["c", "v2.shop"]));
      const { classesMoved, resources } = diffWorlds(before, after);
      expect(classesMoved.map((move) => move.after)).toEqual(["b", "c"]);
      expect(resources.map(({ classes }) => classes)).toEqual([["c"]]);
    });

    it("goes by the namespace of a default class, and not by an address that another pod has now", () => {
      const defaults = (id: string) => ({
        classifier: { attributes: [], labels: {}, classes: {}, defaults: { "sidecar/shop": id } },
      });
      const before = worldOf({ a: one, k: one }, { ...nodes(["k", "old.shop", "10.0.0.1"]), ...defaults("a") });
      const after = worldOf({ b: two, n: two }, { ...nodes(["n", "new.shop", "10.0.0.1"]), ...defaults("b") });
      const { classesAdded, classesRemoved, classesMoved } = diffWorlds(before, after);
      expect([classesAdded, classesRemoved]).toEqual([["n"], ["k"]]);
      expect(classesMoved).toEqual([{ before: "a", after: "b", who: ["every sidecar of shop"] }]);
    });

    it("finds pods that were made anew by what is read of them, and by their account if one class has it", () => {
      const read = (id: string) => ({ attributes: ["type"], labels: {}, classes: { '["sidecar"]': id }, defaults: {} });
      const before = worldOf(
        { a: one, o: one },
        { ...nodes(["o", "o-1.shop", "orders/o-1.shop"]), classifier: read("a") },
      );
      const after = worldOf(
        { b: two, p: two },
        { ...nodes(["p", "o-2.shop", "orders/o-2.shop"]), classifier: read("b") },
      );
      expect(diffWorlds(before, after).classesMoved).toEqual([
        { before: "a", after: "b", who: [] },
        { before: "o", after: "p", who: ["orders in shop"] },
      ]);
      const shared = worldOf(
        { p: two, q: two },
        nodes(["p", "o-2.shop", "orders/o-2.shop"], ["q", "q.shop", "orders/q.shop"]),
      );
      expect(diffWorlds(before, shared).classesMoved).toEqual([]);
    });
  });

  it("reads only what differs of two roots with 10,000 resources", async () => {
    const many = (changed: string) =>
      worldOf({
        a: {
          clusters: Object.fromEntries(
            Array.from({ length: 10_000 }, (_, i) => [`c${i}`, i === 5_000 ? changed : "x".repeat(300)]),
          ),
        },
      });
    const store = memoryStore();
    const publisher = createPublisher(store);
    const first = await publisher.publish(many("1"), await publisher.head());
    let reads = 0;
    const counting = {
      ...store,
      get: (...args: Parameters<typeof store.get>) => {
        reads += 1;
        return store.get(...args);
      },
    };
    const after = many("2");
    const startMs = performance.now();
    const before = await loadWorldLike(
      createSnapshotReader(counting),
      first.kind === "published" ? first.root : "",
      after,
    );
    const { resources } = diffWorlds(before, after);
    console.log(
      `diff of two roots with 10,000 resources: ${Math.round(performance.now() - startMs)} ms, ${reads} reads`,
    );
    expect(resources.map(({ name }) => name)).toEqual(["c5000"]);
    // Of 250 segments one; the rest are lists of them.
    expect(reads).toBeLessThan(40);
  });
});
