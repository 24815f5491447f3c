import { describe, expect, it } from "vitest";
import { createPublisher } from "../../lib/snapshot/publish.ts";
import { createSnapshotReader } from "../../lib/snapshot/snapshot-reader.ts";
import { diffWorlds } from "../../lib/snapshot/worlds/diff-worlds.ts";
import { loadWorldLike } from "../../lib/snapshot/worlds/load-world.ts";
import { memoryStore } from "../../lib/storage/memory.ts";
import { worldOf } from "./worlds.ts";

describe("diffWorlds", () => {
  it("finds nothing between equal worlds", () => {
    const world = () => worldOf({ a: { clusters: { x: "1" } } });
    expect(diffWorlds(world(), world())).toEqual({ classesAdded: [], classesRemoved: [], resources: [] });
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
    expect(diff).toEqual({ classesAdded: ["c"], classesRemoved: ["a"], resources: [] });
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
    expect(reads).toBeLessThan(20);
  });
});
