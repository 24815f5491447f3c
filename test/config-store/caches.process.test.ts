import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { aggregateCaches, aggregateStores } from "../../lib/config-store/aggregate-store.ts";
import type { ConfigEvent, ConfigStoreCache } from "../../lib/config-store/config-store.ts";
import { createDirectoryStore } from "../../lib/config-store/directory-store.ts";
import { createLedgerCache } from "../../lib/config-store/ledger-cache.ts";
import { createLedgerStore } from "../../lib/config-store/ledger-store.ts";
import { createMemoryStore } from "../../lib/config-store/memory-store.ts";
import { memoryStore } from "../../lib/storage/memory.ts";
import { aConfig, envelope } from "../config/a-config.ts";

const rule = (name: string, host: string) => aConfig("DestinationRule", name, `{host: ${host}}`);

function recorded(cache: ConfigStoreCache): readonly string[] {
  const events: string[] = [];
  cache.registerEventHandler("DestinationRule", (event: ConfigEvent) => {
    events.push(`${event.kind} ${event.current.meta.name}`);
  });
  return events;
}

describe("a memory store", () => {
  it("tells of each write after it happened, one handler after another", async () => {
    const store = createMemoryStore();
    const order: string[] = [];
    store.registerEventHandler("DestinationRule", async (event) => {
      await new Promise((resolve) => setTimeout(resolve, 1));
      order.push(`first ${event.kind} ${(await store.get("DestinationRule", "a", "default"))?.spec !== undefined}`);
    });
    store.registerEventHandler("DestinationRule", (event) => {
      order.push(`second ${event.kind} ${event.kind === "update" ? JSON.stringify(event.old.spec) : ""}`);
    });
    await store.create(rule("a", "a"));
    await store.update(rule("a", "b"));
    await store.delete("DestinationRule", "a", "default");
    expect(order).toEqual([
      "first add true",
      "second add ",
      "first update true",
      'second update {"host":"a"}',
      "first delete false",
      "second delete ",
    ]);
  });

  it("takes no handler once it runs", async () => {
    const store = createMemoryStore();
    const stop = new AbortController();
    const running = store.run(stop.signal);
    expect(store.hasSynced()).toBe(true);
    expect(() => store.registerEventHandler("Gateway", () => undefined)).toThrow("before the store runs");
    stop.abort();
    await running;
  });
});

describe("a watched folder", () => {
  it("follows its files, keeps what is valid, and refuses writes", async () => {
    const root = await mkdtemp(join(tmpdir(), "portolan-config-"));
    const stop = new AbortController();
    try {
      await writeFile(join(root, "a.yaml"), `${envelope("DestinationRule", "a")}spec: {host: a}\n`);
      const store = createDirectoryStore(root);
      const events = recorded(store);
      const running = store.run(stop.signal);
      await expect.poll(() => store.hasSynced()).toBe(true);
      expect(events).toEqual(["add a"]);
      await writeFile(
        join(root, "b.yaml"),
        `${envelope("DestinationRule", "b")}spec: {host: b}\n---\n${envelope("DestinationRule", "c")}spec: {hots: c}\n`,
      );
      await expect.poll(() => events).toEqual(["add a", "add b"]);
      await writeFile(join(root, "b.yaml"), `${envelope("DestinationRule", "b")}spec: {host: changed}\n`);
      await expect.poll(() => events).toEqual(["add a", "add b", "update b"]);
      await rm(join(root, "b.yaml"));
      await expect.poll(() => events.at(-1)).toBe("delete b");
      expect((await store.create(rule("x", "x"))).kind).toBe("read-only");
      stop.abort();
      await running;
    } finally {
      stop.abort();
      await rm(root, { recursive: true });
    }
  });
});

describe("a ledger that is followed", () => {
  it("tells what others wrote", async () => {
    const objects = memoryStore();
    const options = { prefix: "config", author: "test", now: () => 0 };
    const writer = createLedgerStore(objects, options);
    await writer.create(rule("a", "a"));
    const cache = createLedgerCache(objects, { ...options, everyMs: 2 });
    const events = recorded(cache);
    const stop = new AbortController();
    const running = cache.run(stop.signal);
    await expect.poll(() => events).toEqual(["add a"]);
    await writer.update(rule("a", "b"));
    await writer.create(rule("c", "c"));
    await expect.poll(() => cache.list("DestinationRule")).toHaveLength(2);
    stop.abort();
    await running;
    expect(events).toContain("add c");
  });
});

describe("several stores as one", () => {
  it("lets the first store's object count, and is read-only without a writer", async () => {
    const [first, second] = [createMemoryStore(), createMemoryStore()];
    await first.create(rule("a", "first"));
    await second.create(rule("a", "second"));
    await second.create(rule("b", "second"));
    const all = aggregateStores([first, second]);
    expect((await all.get("DestinationRule", "a", "default"))?.spec).toEqual({ host: "first" });
    expect((await all.list("DestinationRule")).map(({ spec }) => spec)).toEqual([
      { host: "first" },
      { host: "second" },
    ]);
    expect((await all.create(rule("x", "x"))).kind).toBe("read-only");
    const writable = aggregateStores([first, second], second);
    expect((await writable.create(rule("x", "x"))).kind).toBe("written");
    expect(await second.get("DestinationRule", "x", "default")).toBeDefined();
  });

  it("is synced when all are, and tells the events of all", async () => {
    const [first, second] = [createMemoryStore(), createMemoryStore()];
    const all = aggregateCaches([first, second]);
    const events = recorded(all);
    await first.create(rule("a", "a"));
    await second.create(rule("b", "b"));
    expect(events).toEqual(["add a", "add b"]);
    expect(all.hasSynced()).toBe(false);
    const stop = new AbortController();
    const running = all.run(stop.signal);
    expect(all.hasSynced()).toBe(true);
    stop.abort();
    await running;
  });

  it("refuses stores that disagree about a kind", () => {
    const [schema] = createMemoryStore().schemas;
    if (schema === undefined) throw new Error("no schemas");
    const other = createMemoryStore({ schemas: [{ ...schema, group: "elsewhere.istio.io" }] });
    expect(() => aggregateStores([createMemoryStore(), other])).toThrow("disagree");
  });
});
