import { describe, expect, it } from "vitest";
import { blobKey } from "../../../lib/base/blob.ts";
import { PortolanError } from "../../../lib/base/diagnostic.ts";
import { writeWithheldSources } from "../../../lib/compile/isolation/withheld-sources.ts";
import type { MemoryLimits } from "../../../lib/compile/recompile/recompiled.ts";
import { createRecompiler } from "../../../lib/compile/recompile.ts";
import { createRollout } from "../../../lib/compile/rollout.ts";
import { collectedSources } from "../../../lib/compile/shards/collect-sources.ts";
import { writeShard } from "../../../lib/compile/shards/write-shard.ts";
import { createSliceCompiler } from "../../../lib/compile/slices/compile-slice.ts";
import { lastRoot, newestRoot } from "../../../lib/snapshot/head/head.ts";
import { abortCanary, promoteCanary, rollback, unpin } from "../../../lib/snapshot/head/head-operations.ts";
import { statusOf } from "../../../lib/snapshot/head/head-status.ts";
import { readChanges, readHistory } from "../../../lib/snapshot/head/history/history.ts";
import { createSnapshotReader } from "../../../lib/snapshot/reader/snapshot-reader.ts";
import { collectGarbage } from "../../../lib/snapshot/upkeep/collect-garbage.ts";
import { fsck } from "../../../lib/snapshot/upkeep/fsck.ts";
import { memoryStore } from "../../../lib/storage/memory.ts";
import type { ObjectStore } from "../../../lib/storage/object-store.ts";
import { allOf } from "../../all-of.ts";
import { noPause, openShop, pods } from "./shop.ts";

const tenPercent = { percent: 10, labels: {} };
const options = { pace: noPause };

describe("a rollback", () => {
  it("goes back by configuration, with the endpoints that are newest, in one move of HEAD", async () => {
    const shop = openShop(memoryStore());
    await shop.publish("1s 10.0.0.1");
    await shop.publish("2s 10.0.0.1", { by: "ann@host", why: "a bad route" });
    await shop.publish("2s 10.0.0.2");
    await shop.publish("2s 10.0.0.3");
    const { generation } = await shop.head();
    const moved = await shop.rollout().rollback(1, { why: "the checkout is down" });
    expect(await shop.served()).toBe("1s 10.0.0.3");
    expect(moved.stale).toBeUndefined();
    const head = await shop.head();
    expect(head.generation).toBe(generation + 1);
    expect(head.pin).toMatchObject({ why: "the checkout is down", configuration: { sources: [{ name: "main" }] } });
    expect(await shop.newest()).toBe("2s 10.0.0.3");
    expect((await fsck(shop.store)).problems).toEqual([]);
  });

  it("brings endpoints that were written and never compiled", async () => {
    const shop = openShop(memoryStore());
    await shop.publish("1s 10.0.0.1");
    await shop.publish("2s 10.0.0.1");
    // What is to compile it is away.
    const { writeShard } = await import("../../../lib/compile/shards/write-shard.ts");
    const { pods, routes } = await import("./shop.ts");
    await writeShard(shop.store, "main", [
      { file: "pods.yaml", text: pods("10.0.0.9") },
      { file: "routes.yaml", text: routes("2s") },
    ]);
    await shop.rollout().rollback(1);
    expect(await shop.served()).toBe("1s 10.0.0.9");
  });

  it("goes to the configuration of any version by name, also of one that brought endpoints alone", async () => {
    const shop = openShop(memoryStore());
    await shop.publish("1s 10.0.0.1");
    await shop.publish("1s 10.0.0.2");
    const root = lastRoot((await shop.head()).steps);
    await shop.publish("2s 10.0.0.3");
    await shop.publish("3s 10.0.0.4");
    await shop.rollout().rollback(root);
    expect(await shop.served()).toBe("1s 10.0.0.4");
  });

  it("never leads to what a rollback left, however endpoints have changed in between", async () => {
    const shop = openShop(memoryStore());
    await shop.publish("1s 10.0.0.1");
    await shop.publish("2s 10.0.0.2");
    await shop.publish("3s 10.0.0.3");
    await shop.rollout().rollback(1);
    await shop.publish("3s 10.0.0.4");
    expect(await shop.served()).toBe("2s 10.0.0.4");
    await shop.rollout().rollback(1);
    expect(await shop.served()).toBe("1s 10.0.0.4");
    await expect(shop.rollout().rollback(1)).rejects.toThrow("the history does not go back 1 configuration");
  });

  it("is as good where nothing of the version's sources is kept: the version is served as it was, and says so", async () => {
    const shop = openShop(memoryStore());
    await shop.publish("1s 10.0.0.1");
    await shop.publish("2s 10.0.0.2");
    for (const key of await allOf(shop.store.list("sources/main/versions/"))) await shop.store.delete(key.key);
    const { stale } = await shop.rollout().rollback(1);
    expect(stale).toContain("is not in this store");
    expect(await shop.served()).toBe("1s 10.0.0.1");
    expect((await shop.head()).pin?.configuration).toBeUndefined();
  });

  it("works while the store does not answer for a source, and is led on to the newest endpoints by the next compile", async () => {
    const shop = openShop(memoryStore());
    await shop.publish("1s 10.0.0.1");
    await shop.publish("2s 10.0.0.2");
    const silent: ObjectStore = {
      ...shop.store,
      async get(key, condition) {
        if (key === "sources/main/list") throw new PortolanError("the store does not answer");
        return shop.store.get(key, condition);
      },
    };
    const { stale } = await createRollout({ store: silent, publisher: options }).rollback(1);
    expect(stale).toContain("the store does not answer");
    expect(await shop.served()).toBe("1s 10.0.0.1");
    await shop.publishCold("2s 10.0.0.3");
    expect(await shop.served()).toBe("1s 10.0.0.3");
  });

  it("takes the endpoints that were published last of a source that is damaged", async () => {
    const shop = openShop(memoryStore());
    await shop.publish("1s 10.0.0.1");
    await shop.publish("2s 10.0.0.2");
    await shop.store.put("sources/main/list", new TextEncoder().encode("garbage"));
    const { stale } = await shop.rollout().rollback(1);
    expect(stale).toBeUndefined();
    expect(await shop.served()).toBe("1s 10.0.0.2");
    expect((await createRecompiler({ store: shop.store, publisher: options })()).diagnostics).toContainEqual(
      expect.objectContaining({ code: "unreadable-source" }),
    );
    expect(await shop.served()).toBe("1s 10.0.0.2");
    await shop.publishCold("2s 10.0.0.3");
    expect(await shop.served()).toBe("1s 10.0.0.3");
  });
});

describe("a rollback while a version of a source is held back", () => {
  it("does not compile what has ended a compile process", async () => {
    const shop = openShop(memoryStore());
    await shop.publish("1s 10.0.0.1");
    await shop.publish("2s 10.0.0.2");
    const version = await writeShard(shop.store, "main", [{ file: "pods.yaml", text: pods("10.0.0.3") }]);
    await writeWithheldSources(shop.store, [{ name: "main", version, reason: "out of memory", deaths: 1, retryMs: 0 }]);
    expect((await shop.rollout().rollback(1)).stale).toBeUndefined();
    expect(await shop.served()).toBe("1s 10.0.0.2");
  });
});

describe("a pin", () => {
  it("holds configuration, and follows endpoints: in a process that goes on, and in one that starts", async () => {
    const shop = openShop(memoryStore());
    await shop.publish("1s 10.0.0.1");
    await shop.publish("2s 10.0.0.2");
    await shop.rollout().rollback(1);
    expect(await shop.publish("2s 10.0.0.3")).toBe("pinned");
    expect(await shop.served()).toBe("1s 10.0.0.3");
    expect(await shop.publishCold("2s 10.0.0.4")).toBe("pinned");
    expect(await shop.served()).toBe("1s 10.0.0.4");
    await shop.publish("4s 10.0.0.5");
    expect([await shop.served(), await shop.newest()]).toEqual(["1s 10.0.0.5", "4s 10.0.0.5"]);
    await unpin(shop.store, options);
    expect(await shop.served()).toBe("4s 10.0.0.5");
    await shop.publish("5s 10.0.0.6");
    expect(await shop.served()).toBe("5s 10.0.0.6");
    expect((await fsck(shop.store)).problems).toEqual([]);
  });

  it("leaves the very root where configuration alone is published", async () => {
    const shop = openShop(memoryStore());
    await shop.publish("1s 10.0.0.1");
    const first = lastRoot((await shop.head()).steps);
    await shop.publish("2s 10.0.0.1", { share: { percent: 0, labels: {} } });
    expect(lastRoot((await shop.head()).steps)).toBe(first);
    await shop.publish("3s 10.0.0.1");
    expect(lastRoot((await shop.head()).steps)).toBe(first);
    await abortCanary(shop.store, options);
    await shop.rollout().rollback(0);
    expect(lastRoot((await shop.head()).steps)).toBe(first);
  });

  it("comes to the same bytes in a process that goes on, in one that starts, and where there is little room", async () => {
    const roots = async (isCold: boolean, memoryLimits?: MemoryLimits) => {
      const shop = openShop(memoryStore(), "this build", undefined, memoryLimits);
      await shop.publish("1s 10.0.0.1");
      await shop.publish("2s 10.0.0.2");
      await shop.rollout().rollback(1);
      await (isCold ? shop.publishCold : shop.publish)("3s 10.0.0.3");
      const head = await shop.head();
      return [lastRoot(head.steps), newestRoot(head)];
    };
    const goingOn = await roots(false);
    expect(await roots(true)).toEqual(goingOn);
    expect(await roots(false, { wholeBytes: 0, sliceBytes: 400 })).toEqual(goingOn);
  });

  it("is over at its time: the next compile leads to the newest", async () => {
    let nowMs = Date.UTC(2026, 0, 1);
    const store = memoryStore(() => nowMs);
    const publisher = { pace: noPause, now: () => nowMs };
    const compile = createRecompiler({ store, publisher, now: () => nowMs });
    const shop = openShop(store);
    await shop.publish("1s 10.0.0.1");
    await shop.publish("2s 10.0.0.2");
    await createRollout({ store, publisher }).rollback(1, { until: { afterMs: 60_000 } });
    expect(await shop.served()).toBe("1s 10.0.0.2");
    nowMs += 61_000;
    expect((await compile()).kind).toBe("published");
    expect(await shop.served()).toBe("2s 10.0.0.2");
  });

  it("of an earlier release, which says no configuration, holds endpoints too until it is let go", async () => {
    const shop = openShop(memoryStore());
    await shop.publish("1s 10.0.0.1");
    await shop.publish("2s 10.0.0.2");
    await rollback(shop.store, 1, options);
    await shop.publish("3s 10.0.0.3");
    await shop.publishCold("3s 10.0.0.4");
    expect([await shop.served(), await shop.newest()]).toEqual(["1s 10.0.0.1", "3s 10.0.0.4"]);
    await unpin(shop.store, options);
    expect(await shop.served()).toBe("3s 10.0.0.4");
  });

  it("of configuration that is lost keeps what is served, and says so", async () => {
    const shop = openShop(memoryStore());
    await shop.publish("1s 10.0.0.1");
    await shop.publish("2s 10.0.0.2");
    await shop.rollout().rollback(1);
    const held = (await shop.head()).pin?.configuration?.sources[0]?.version;
    await shop.store.delete(`sources/main/versions/${held}`);
    await shop.publishCold("2s 10.0.0.3");
    expect(await shop.served()).toBe("1s 10.0.0.2");
    const { diagnostics } = await createRecompiler({ store: shop.store, publisher: options })();
    expect(diagnostics.map(({ code }) => code)).toContain("held-configuration-lost");
  });
});

describe("a canary", () => {
  it("differs by configuration alone, and is promoted with the endpoints that are newest", async () => {
    const shop = openShop(memoryStore());
    await shop.publish("1s 10.0.0.1");
    expect(await shop.publish("2s 10.0.0.2", { share: tenPercent })).toBe("canary");
    expect([await shop.served(), await shop.tried()]).toEqual(["1s 10.0.0.2", "2s 10.0.0.2"]);
    await shop.publishCold("2s 10.0.0.3");
    expect([await shop.served(), await shop.tried()]).toEqual(["1s 10.0.0.3", "2s 10.0.0.3"]);
    // What is published for everybody meanwhile is for nobody yet.
    await shop.publish("3s 10.0.0.4");
    expect([await shop.served(), await shop.tried(), await shop.newest()]).toEqual([
      "1s 10.0.0.4",
      "2s 10.0.0.4",
      "3s 10.0.0.4",
    ]);
    await promoteCanary(shop.store, options);
    expect(await shop.served()).toBe("2s 10.0.0.4");
    await shop.publish("3s 10.0.0.5");
    expect(await shop.served()).toBe("2s 10.0.0.5");
    await unpin(shop.store, options);
    expect(await shop.served()).toBe("3s 10.0.0.5");
  });

  it("pins nothing once it is promoted and is the newest, though endpoints have changed since", async () => {
    const shop = openShop(memoryStore());
    await shop.publish("1s 10.0.0.1");
    await shop.publish("2s 10.0.0.1", { share: tenPercent });
    await shop.publish("2s 10.0.0.2");
    await promoteCanary(shop.store, options);
    expect((await shop.head()).pin).toBeUndefined();
    expect(await shop.served()).toBe("2s 10.0.0.2");
  });

  it("leaves everybody's configuration held when it is aborted, and endpoints followed", async () => {
    const shop = openShop(memoryStore());
    await shop.publish("1s 10.0.0.1");
    await shop.publish("2s 10.0.0.1", { share: tenPercent });
    await abortCanary(shop.store, options);
    await shop.publishCold("2s 10.0.0.2");
    expect(await shop.served()).toBe("1s 10.0.0.2");
    expect((await shop.head()).canary).toBeUndefined();
  });

  it("of an earlier version has its configuration and the newest endpoints", async () => {
    const shop = openShop(memoryStore());
    await shop.publish("1s 10.0.0.1");
    const earlier = lastRoot((await shop.head()).steps);
    await shop.publish("2s 10.0.0.2");
    await shop.rollout().canary(earlier, tenPercent);
    expect([await shop.served(), await shop.tried()]).toEqual(["2s 10.0.0.2", "1s 10.0.0.2"]);
    await shop.publish("2s 10.0.0.3");
    expect([await shop.served(), await shop.tried()]).toEqual(["2s 10.0.0.3", "1s 10.0.0.3"]);
    await shop.rollout().canary(newestRoot(await shop.head()), tenPercent);
    expect(await shop.tried()).toBe("2s 10.0.0.3");
  });
});

describe("the history of configuration", () => {
  it("lists each change once, however often endpoints change in between, and reads no more for it", async () => {
    const shop = openShop(memoryStore());
    await shop.publish("1s 10.0.0.1");
    await shop.publish("2s 10.0.0.1");
    for (let pod = 2; pod < 12; pod += 1) await shop.publish(`2s 10.0.0.${pod}`);
    await shop.publish("3s 10.0.0.1");
    for (let pod = 2; pod < 12; pod += 1) await shop.publish(`3s 10.0.0.${pod}`);
    let reads = 0;
    const counting = {
      ...shop.store,
      get: (...asked: Parameters<typeof shop.store.get>) => {
        reads += 1;
        return shop.store.get(...asked);
      },
    };
    const changes = await allOf(readChanges(createSnapshotReader(counting), await shop.head()));
    expect(changes.map(({ generation }) => generation)).toEqual([13, 2, 1]);
    expect(reads).toBe(3);
  });

  it("tells what is held back of a publish that brings everybody endpoints at the same moment", async () => {
    const shop = openShop(memoryStore());
    await shop.publish("1s 10.0.0.1");
    await shop.publish("2s 10.0.0.2");
    await shop.rollout().rollback(1);
    await shop.publish("3s 10.0.0.3", { why: "try again" });
    const head = await shop.head();
    const { since, held } = await statusOf(createSnapshotReader(shop.store), head, Date.now());
    expect(since?.reason).toBe("rollback");
    expect(held).toMatchObject([{ why: "try again", root: newestRoot(head) }]);
  });

  it("is kept by a collection, sources and all, though endpoints have changed more often than versions are kept", async () => {
    let nowMs = Date.UTC(2026, 0, 1);
    const store = memoryStore(() => nowMs);
    const shop = openShop(store);
    await shop.publish("1s 10.0.0.1");
    await shop.publish("2s 10.0.0.1");
    for (let pod = 2; pod < 12; pod += 1) await shop.publish(`2s 10.0.0.${pod}`);
    const collect = async () => {
      nowMs += 3_600_000;
      const gc = { keepPublications: 2, graceMs: 0, now: () => nowMs, others: [collectedSources] };
      return (await collectGarbage(store, gc)).deleted;
    };
    await collect();
    expect(await collect()).toBeGreaterThan(0);
    const generations = (await allOf(readHistory(createSnapshotReader(store), (await shop.head()).publication))).map(
      ({ generation }) => generation,
    );
    expect(generations.slice(-2)).toEqual([2, 1]);
    expect(generations).not.toContain(6);
    expect((await fsck(store)).problems).toEqual([]);
    await shop.rollout().rollback(1);
    expect(await shop.served()).toBe("1s 10.0.0.11");
    // And what the pin names stays, whatever is published while it holds.
    for (let pod = 2; pod < 8; pod += 1) await shop.publish(`${pod}s 10.0.0.${pod}`);
    await collect();
    await collect();
    await shop.publishCold("9s 10.0.0.9");
    expect(await shop.served()).toBe("1s 10.0.0.9");
    expect((await fsck(store)).problems).toEqual([]);
  });
});

describe("a collection", () => {
  it("goes on where an earlier release has collected a part of what brought a configuration", async () => {
    let nowMs = Date.UTC(2026, 0, 1);
    const store = memoryStore(() => nowMs);
    const shop = openShop(store);
    await shop.publish("1s 10.0.0.1");
    const root = lastRoot((await shop.head()).steps);
    for (let pod = 2; pod < 6; pod += 1) await shop.publish(`1s 10.0.0.${pod}`);
    const { root: read } = await createSnapshotReader(store).root(root);
    await store.delete(blobKey(read.tables.endpoints));
    nowMs += 3_600_000;
    const gc = { keepPublications: 2, graceMs: 0, now: () => nowMs, others: [collectedSources] };
    expect((await collectGarbage(store, gc)).done).toBe(true);
  });
});

describe("configuration that is held", () => {
  it("comes to the same bytes in slices as in one piece", async () => {
    const rootsOf = async (isSliced: boolean) => {
      const store = memoryStore();
      const shop = openShop(store);
      await shop.publish("1s 10.0.0.1");
      await shop.publish("2s 10.0.0.2");
      await shop.rollout().rollback(1);
      const { writeShard } = await import("../../../lib/compile/shards/write-shard.ts");
      const { pods, routes } = await import("./shop.ts");
      await writeShard(store, "main", [
        { file: "pods.yaml", text: pods("10.0.0.3") },
        { file: "routes.yaml", text: routes("3s") },
      ]);
      const slice = createSliceCompiler(store);
      const dispatched: number[] = [];
      const dispatch = async (job: Parameters<typeof slice>[0]) => {
        dispatched.push(job.index);
        await slice(job);
      };
      const fanOut = isSliced ? { fanOut: { dispatch, most: 2, sliceBytes: 1, waitMs: 20_000, pollMs: 1 } } : {};
      await createRecompiler({ store, publisher: options, ...fanOut })();
      expect(dispatched).toHaveLength(isSliced ? 4 : 0);
      const head = await shop.head();
      return [lastRoot(head.steps), newestRoot(head)];
    };
    expect(await rootsOf(true)).toEqual(await rootsOf(false));
  });
});
