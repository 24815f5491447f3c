import { describe, expect, it } from "vitest";
import { type CollectorOptions, createCollector } from "../../lib/collect/collector.ts";
import { createCollectedReader } from "../../lib/compile/collected/collected-shard.ts";
import { readShardState, writeShardState } from "../../lib/compile/collected/shard-state.ts";
import { memoryStore } from "../../lib/storage/memory.ts";
import type { ObjectStore } from "../../lib/storage/object-store.ts";
import { FakeOrigin, thing } from "./fake-origin.ts";

const policy = (name: string) => {
  const metadata = { name, namespace: "shop" };
  const object = { apiVersion: "security.istio.io/v1", kind: "AuthorizationPolicy", metadata, spec: {} };
  return { key: `AuthorizationPolicy/shop/${name}`, version: "1", object };
};
const part = "AuthorizationPolicy";
const parts = [part, "Service"];
const reason = "no longer served by the API server";
const failure = `${part}: ${reason}; its 2 objects are still served as last read, until the kind is there again, or a start with --allow-empty`;
const all = ["AuthorizationPolicy/shop/deny", "AuthorizationPolicy/shop/more", "Service/shop/a"];

function collecting(store: ObjectStore, more: Partial<CollectorOptions> = {}) {
  const origin = new FakeOrigin(parts);
  const stop = new AbortController();
  const pace = { pause: () => new Promise<void>((resolve) => setImmediate(resolve)), backOff: () => 0 };
  const collector = createCollector({ store, source: "cluster", origin, gatherMs: 0, pace, ...more });
  const running = collector.run(stop.signal);
  const end = async () => {
    stop.abort();
    await running;
  };
  return { origin, collector, end };
}

async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  for (let turn = 0; turn < 5000; turn += 1) {
    if (await holds()) return;
    await new Promise((resolve) => setImmediate(resolve));
  }
  throw new Error("never came to hold");
}

const keys = async (store: ObjectStore) => [
  ...((await createCollectedReader(store, "cluster")())?.objects.keys() ?? []),
];
const holds = (store: ObjectStore, wanted: readonly string[]) => async () =>
  (await keys(store)).sort().join() === wanted.join();

/** A store whose source holds two policies and a service. */
async function filled(): Promise<ObjectStore> {
  const store = memoryStore();
  const { origin, end } = collecting(store);
  await origin.following;
  origin.whole(part, [policy("deny"), policy("more")]);
  origin.whole("Service", [thing("a")]);
  await until(holds(store, all));
  await end();
  return store;
}

describe("a kind that is not served any more", () => {
  it("keeps its objects, and the source says so, until it is served again and says otherwise", async () => {
    const store = memoryStore();
    const { origin, collector, end } = collecting(store);
    await origin.following;
    origin.whole(part, [policy("deny"), policy("more")]);
    origin.whole("Service", [thing("a")]);
    await until(holds(store, all));
    expect(origin.sink?.absent(part, reason)).toBe(true);
    await until(async () => (await readShardState(store, "cluster"))?.failure === failure);
    expect(collector.state().failure).toBe(failure);
    origin.whole("Service", [thing("a"), thing("b")]);
    await until(holds(store, [...all, "Service/shop/b"]));
    origin.whole(part, [policy("more")]);
    await until(holds(store, ["AuthorizationPolicy/shop/more", "Service/shop/a", "Service/shop/b"]));
    await until(async () => (await readShardState(store, "cluster"))?.failure === "");
    await end();
  });

  it("keeps them when its collector is begun again meanwhile, and is looked for soon", async () => {
    const store = await filled();
    const { origin, collector, end } = collecting(store);
    await origin.following;
    expect(origin.sink?.absent(part, reason)).toBe(true);
    origin.whole("Service", [thing("b")]);
    const kept = [...all.slice(0, 2), "Service/shop/b"];
    await until(holds(store, kept));
    expect(collector.state()).toMatchObject({ failure, objects: 3 });
    expect(origin.sink?.absent(part, reason)).toBe(true);
    origin.whole(part, []);
    await until(holds(store, ["Service/shop/b"]));
    expect(collector.state()).toMatchObject({ failure: "", objects: 1 });
    await end();
  });

  it("is as old as the collector before left its source", async () => {
    const store = await filled();
    const before = (await readShardState(store, "cluster"))?.asOfMs ?? 0;
    expect(before).toBeGreaterThan(0);
    const { origin, collector, end } = collecting(store, { now: () => before + 86_400_000 });
    await origin.following;
    origin.sink?.absent(part, reason);
    origin.whole("Service", [thing("b")]);
    await until(async () => (await readShardState(store, "cluster"))?.failure === failure);
    expect([collector.state().asOfMs, (await readShardState(store, "cluster"))?.asOfMs]).toEqual([before, before]);
    await end();
  });

  it("has no age of another origin, whose source was taken over", async () => {
    const store = await filled();
    await writeShardState(store, "cluster", { asOfMs: 1_000, failure: "" });
    const origin = new FakeOrigin(parts, "other");
    const stop = new AbortController();
    const pace = { pause: () => new Promise<void>((resolve) => setImmediate(resolve)), backOff: () => 0 };
    const collector = createCollector({ store, source: "cluster", origin, gatherMs: 0, pace, takeOver: true });
    const running = collector.run(stop.signal);
    await origin.following;
    origin.whole(part, [policy("deny")]);
    origin.whole("Service", [thing("b")]);
    origin.sink?.failed("Service", "403 Forbidden");
    await until(() => collector.state().isFilled);
    expect(collector.state()).toMatchObject({ asOfMs: 0, failure: "Service: 403 Forbidden" });
    stop.abort();
    await running;
  });

  it("has a collector that reads once leave its source as it is", async () => {
    const store = await filled();
    const origin = new FakeOrigin(parts);
    const done = createCollector({ store, source: "cluster", origin }).once();
    await origin.following;
    origin.sink?.absent(part, reason);
    origin.whole("Service", [thing("b")]);
    await expect(done).rejects.toThrow(`source cluster was left as it was: ${failure}`);
    expect((await keys(store)).sort()).toEqual(all);
  });

  it.each(["goes on", "is begun again"])("loses them where that is allowed, and its collector %s", async (what) => {
    const store = await filled();
    const { origin, collector, end } = collecting(store, { allowEmpty: true });
    await origin.following;
    if (what === "goes on") {
      origin.whole(part, [policy("deny"), policy("more")]);
      origin.whole("Service", [thing("a")]);
      await until(() => collector.state().isFilled);
    }
    expect(origin.sink?.absent(part, reason)).toBe(false);
    origin.whole("Service", [thing("a")]);
    await until(holds(store, ["Service/shop/a"]));
    expect(collector.state().failure).toBe("");
    await end();
  });

  it("is empty where it never held anything", async () => {
    const store = memoryStore();
    const { origin, collector, end } = collecting(store);
    await origin.following;
    origin.sink?.absent(part, reason);
    origin.whole("Service", [thing("a")]);
    await until(holds(store, ["Service/shop/a"]));
    expect(origin.sink?.absent(part, reason)).toBe(false);
    expect(collector.state().failure).toBe("");
    await end();
  });
});
