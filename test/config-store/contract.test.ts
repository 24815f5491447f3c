import { describe, expect, it } from "vitest";
import type { Config } from "../../lib/config/config.ts";
import { createLedgerStore } from "../../lib/config-store/ledger-store.ts";
import { memoryStore } from "../../lib/storage/memory.ts";
import { aConfig } from "../config/a-config.ts";

const rule = (name: string, host: string, namespace = "default") =>
  aConfig("DestinationRule", name, `{host: ${host}}`, namespace);
const revised = (config: Config, resourceVersion: string): Config => ({
  ...config,
  meta: { ...config.meta, resourceVersion },
});
const specs = (configs: readonly Config[]) => configs.map(({ meta, spec }) => [`${meta.namespace}/${meta.name}`, spec]);

const open = () => createLedgerStore(memoryStore(), { prefix: "config", author: "test", now: () => 0 });

describe("a store of objects", () => {
  it("gives back what was created, and lists it by namespace and name", async () => {
    const store = open();
    for (const config of [rule("b", "b"), rule("a", "a"), rule("a", "c", "another")]) await store.create(config);
    expect((await store.get("DestinationRule", "a", "default"))?.spec).toEqual({ host: "a" });
    expect(specs(await store.list("DestinationRule"))).toEqual([
      ["another/a", { host: "c" }],
      ["default/a", { host: "a" }],
      ["default/b", { host: "b" }],
    ]);
    expect(specs(await store.list("DestinationRule", "default"))).toHaveLength(2);
    expect(await store.list("Gateway")).toEqual([]);
    expect(await store.get("DestinationRule", "x", "default")).toBeUndefined();
  });

  it("refuses to create what exists, and to change or delete what does not", async () => {
    const store = open();
    expect((await store.create(rule("a", "a"))).kind).toBe("written");
    expect(await store.create(rule("a", "b"))).toMatchObject({ kind: "exists", current: { spec: { host: "a" } } });
    expect((await store.update(rule("b", "b"))).kind).toBe("missing");
    expect((await store.delete("DestinationRule", "b", "default")).kind).toBe("missing");
  });

  it("blocks a write that brings a revision other than the stored one", async () => {
    const store = open();
    await store.create(rule("a", "a"));
    const first = await store.get("DestinationRule", "a", "default");
    const old = first?.meta.resourceVersion ?? "";
    expect((await store.update(revised(rule("a", "b"), old))).kind).toBe("written");
    expect(await store.update(revised(rule("a", "c"), old))).toMatchObject({
      kind: "conflict",
      current: { spec: { host: "b" } },
    });
    expect((await store.delete("DestinationRule", "a", "default", old)).kind).toBe("conflict");
    expect((await store.update(rule("a", "d"))).kind).toBe("written");
    expect((await store.delete("DestinationRule", "a", "default")).kind).toBe("written");
    expect(await store.get("DestinationRule", "a", "default")).toBeUndefined();
  });

  it("refuses what is invalid, and says why", async () => {
    const valid = rule("a", "a");
    const result = await open().create({ ...valid, spec: { host: "not a host" } });
    expect(result).toMatchObject({ kind: "invalid", diagnostics: [{ path: ["spec", "host"] }] });
  });

  it("remembers what an object was in an earlier version", async () => {
    const store = open();
    const key = { group: "networking.istio.io", kind: "DestinationRule", name: "a", namespace: "default" };
    const empty = await store.version();
    await store.create(rule("a", "a"));
    const first = await store.version();
    await store.update(rule("a", "b"));
    const second = await store.version();
    expect(new Set([empty, first, second]).size).toBe(3);
    expect(await store.getResourceAtVersion(empty, key)).toBeUndefined();
    expect((await store.getResourceAtVersion(first, key))?.spec).toEqual({ host: "a" });
    expect((await store.getResourceAtVersion(second, key))?.spec).toEqual({ host: "b" });
    await store.delete("DestinationRule", "a", "default");
    expect((await store.getResourceAtVersion(second, key))?.spec).toEqual({ host: "b" });
  });
});

describe("a ledger", () => {
  it("has one version for one content, whatever happened before", async () => {
    const [one, other] = [open(), open()];
    await one.create(rule("a", "a"));
    await one.create(rule("b", "b"));
    await one.delete("DestinationRule", "a", "default");
    await other.create(rule("b", "b"));
    expect(await one.version()).toBe(await other.version());
  });

  it("writes a batch whole or not at all", async () => {
    const store = open();
    await store.create(rule("b", "b"));
    const before = await store.version();
    const put = (config: Config) => ({ kind: "put", config, if: "absent" }) as const;
    expect(await store.writeAll([put(rule("a", "a")), put(rule("b", "x"))], "batch")).toMatchObject({
      kind: "refused",
      key: "DestinationRule/default/b",
      result: { kind: "exists" },
    });
    expect(await store.version()).toBe(before);
    expect(await store.writeAll([put(rule("a", "a")), put(rule("c", "c"))], "batch")).toMatchObject({
      kind: "written",
      revision: 2,
    });
    expect(await store.list("DestinationRule")).toHaveLength(3);
  });
});
