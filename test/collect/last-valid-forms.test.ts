import { describe, expect, it } from "vitest";
import { createCollector } from "../../lib/collect/collector.ts";
import { createCollectedReader } from "../../lib/compile/collected/collected-shard.ts";
import { createCollectedLoader } from "../../lib/compile/collected/load-collected.ts";
import { withClosed } from "../../lib/compile/world/closed-world.ts";
import { createMemo } from "../../lib/incremental/memo.ts";
import type { OriginObject } from "../../lib/registry/origin/origin.ts";
import { memoryStore } from "../../lib/storage/memory.ts";
import type { ObjectStore } from "../../lib/storage/object-store.ts";
import { FakeOrigin, gone, put } from "./fake-origin.ts";

/** One run of a collector, from its start to its end, over what an origin holds. */
async function collectOnce(store: ObjectStore, told: readonly Told[]): Promise<void> {
  const origin = new FakeOrigin();
  const collector = createCollector({ store, source: "cluster", origin, allowEmpty: true });
  const done = collector.once();
  await origin.following;
  origin.whole("all", told.map(objectOf));
  await done;
}

type Told = readonly [kind: "AuthorizationPolicy" | "VirtualService", version: string, spec: object];

function objectOf([kind, version, spec]: Told): OriginObject {
  const group = kind === "AuthorizationPolicy" ? "security" : "networking";
  return {
    key: `${kind}/shop/a`,
    version,
    object: { apiVersion: `${group}.istio.io/v1`, kind, metadata: { name: "a", namespace: "shop" }, spec },
  };
}

async function loaded(store: ObjectStore) {
  const shard = await createCollectedReader(store, "cluster")();
  if (shard === undefined) throw new Error("nothing was collected");
  return { shard, content: createCollectedLoader()(shard).content };
}

/** What the source says: specs by kind, and the codes of what is said of them. */
async function said(store: ObjectStore) {
  const { shard, content } = await loaded(store);
  const { configs, diagnostics } = withClosed(content, "close", createMemo());
  return {
    specs: configs.map(({ spec }) => spec),
    codes: [...content.diagnostics, ...diagnostics].map(({ code }) => code),
    messages: content.diagnostics.filter(({ code }) => code === "last-valid-served").map(({ message }) => message),
    kept: shard.kept?.size ?? 0,
  };
}

const denies = (paths: readonly string[]) => ({ action: "DENY", rules: [{ to: [{ operation: { paths } }] }] });
const good: Told = ["AuthorizationPolicy", "1", denies(["/admin"])];
const bad: Told = ["AuthorizationPolicy", "2", { action: "DENY", rules: [{ to: [{ operation: {} }] }] }];
const unknown: Told = ["AuthorizationPolicy", "3", { ...denies(["/admin"]), presence: "REQUIRED" }];
const closed = { action: "DENY", rules: [{}] };

describe("a collector whose origin makes an object invalid", () => {
  it.each([
    ["a pruned field", bad],
    ["a field of a newer release", unknown],
  ])("keeps the last valid form beside it, for %s", async (_what, broken) => {
    const store = memoryStore();
    await collectOnce(store, [good]);
    await collectOnce(store, [broken]);
    const after = await said(store);
    expect(after).toMatchObject({ specs: [denies(["/admin"])], kept: 1 });
    expect(after.codes).toContain("last-valid-served");
    expect(after.messages).toEqual(["its last valid form (resourceVersion 1) is served in place of what is refused"]);
    // Another process, started anew, over an origin that has not changed.
    await collectOnce(store, [broken]);
    expect(await said(store)).toEqual(after);
  });

  it("keeps it through further invalid forms, and drops it with the next valid one or the object's end", async () => {
    const store = memoryStore();
    await collectOnce(store, [good]);
    await collectOnce(store, [bad]);
    await collectOnce(store, [unknown]);
    expect(await said(store)).toMatchObject({ specs: [denies(["/admin"])], kept: 1 });
    await collectOnce(store, [["AuthorizationPolicy", "4", denies(["/other"])]]);
    expect(await said(store)).toEqual({
      specs: [denies(["/other"])],
      codes: ["discouraged-value"],
      messages: [],
      kept: 0,
    });
    await collectOnce(store, [bad]);
    await collectOnce(store, []);
    expect(await said(store)).toEqual({ specs: [], codes: [], messages: [], kept: 0 });
  });

  it("closes what it selects where it never was valid", async () => {
    const store = memoryStore();
    await collectOnce(store, [bad]);
    const first = await said(store);
    expect(first).toMatchObject({ specs: [closed], kept: 0 });
    expect(first.codes).toContain("security-closed");
    await collectOnce(store, [unknown]);
    expect(await said(store)).toMatchObject({ specs: [closed], kept: 0 });
  });

  it("keeps the form of a VirtualService, too", async () => {
    const store = memoryStore();
    const route = { hosts: ["a.test"], http: [{ route: [{ destination: { host: "a" } }] }] };
    await collectOnce(store, [["VirtualService", "1", route]]);
    await collectOnce(store, [["VirtualService", "2", { hosts: ["a.test"], http: [{ route: [] }] }]]);
    expect(await said(store)).toMatchObject({ specs: [route], kept: 1 });
  });

  it("keeps it while it runs, change by change", async () => {
    const store = memoryStore();
    const origin = new FakeOrigin();
    const stop = new AbortController();
    let pushes = 0;
    const collector = createCollector({
      store,
      source: "cluster",
      origin,
      gatherMs: 0,
      pace: { pause: () => new Promise((resolve) => setImmediate(resolve)), backOff: () => 0 },
      pushed: () => {
        pushes += 1;
      },
    });
    const running = collector.run(stop.signal);
    const pushed = async (count: number) => {
      for (let turn = 0; turn < 5000 && pushes < count; turn += 1) await new Promise((go) => setImmediate(go));
      expect(pushes).toBe(count);
    };
    await origin.following;
    origin.whole("all", [objectOf(good)]);
    await pushed(1);
    origin.changed("all", put(objectOf(bad)));
    await pushed(2);
    expect(await said(store)).toMatchObject({ specs: [denies(["/admin"])], kept: 1 });
    origin.changed("all", gone(objectOf(bad)));
    origin.changed("all", put(objectOf(["VirtualService", "1", { hosts: ["b.test"] }])));
    await pushed(3);
    expect(await said(store)).toMatchObject({ kept: 0 });
    stop.abort();
    await running;
  });
});
