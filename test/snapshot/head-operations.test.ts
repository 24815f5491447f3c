import { describe, expect, it } from "vitest";
import { lastRoot, parseHead, readHead } from "../../lib/snapshot/head/head.ts";
import {
  abortCanary,
  exportSnapshot,
  importSnapshot,
  promoteCanary,
  rollback,
  setCanary,
} from "../../lib/snapshot/head/head-operations.ts";
import { isSigned, signHead } from "../../lib/snapshot/head/signatures.ts";
import { makeSigningKey, publicPart } from "../../lib/snapshot/head/signing-keys.ts";
import { createPublisher } from "../../lib/snapshot/publish.ts";
import { createSnapshotReader } from "../../lib/snapshot/reader/snapshot-reader.ts";
import { fsck } from "../../lib/snapshot/upkeep/fsck.ts";
import { restoreWorld } from "../../lib/snapshot/worlds/restore-world.ts";
import { memoryStore } from "../../lib/storage/memory.ts";
import type { ObjectStore } from "../../lib/storage/object-store.ts";
import { contentsOf, worldOf } from "./worlds.ts";

const pace = { settleMs: 0, retentionMs: 0 };
const world = (content: string) => worldOf({ web: { clusters: { a: "1" }, routes: { "80": content } } });

async function storeWith(...contents: readonly string[]): Promise<ObjectStore> {
  const store = memoryStore();
  const publisher = createPublisher(store, { pace });
  for (const content of contents) await publisher.publish(world(content), await publisher.head());
  return store;
}

async function leadsTo(store: ObjectStore): Promise<string | undefined> {
  const read = await readHead(store);
  const { world: result } = await restoreWorld(createSnapshotReader(store), read?.head.steps.at(-1)?.root ?? "");
  return contentsOf(result, "web", "routes")["80"];
}

describe("rollback", () => {
  it("leads back by one or more publications, and is itself one", async () => {
    const store = await storeWith("1", "2", "3");
    await rollback(store, 1, { pace });
    expect(await leadsTo(store)).toBe("2");
    await rollback(store, 1, { pace });
    expect(await leadsTo(store)).toBe("1");
    expect((await readHead(store))?.head.generation).toBe(5);
    expect((await fsck(store)).problems).toEqual([]);
  });

  it("gives the very root of that time back", async () => {
    const store = await storeWith("1");
    const before = (await readHead(store))?.head.steps.at(-1)?.root;
    const publisher = createPublisher(store, { pace });
    await publisher.publish(world("2"), await publisher.head());
    expect((await rollback(store, 1, { pace })).root).toBe(before);
  });

  it("goes back to what everybody had, also where a canary has it by now", async () => {
    for (const back of [1, "--to"]) {
      const store = await storeWith("1", "2");
      const root = lastRoot((await readHead(store))?.head.steps ?? []);
      await setCanary(store, { root, percent: 10, labels: {} });
      const publisher = createPublisher(store, { pace });
      await publisher.publish(world("3"), await publisher.head());
      await rollback(store, back === 1 ? back : root, { pace });
      expect(await leadsTo(store)).toBe("2");
      expect((await readHead(store))?.head.canary).toBeUndefined();
    }
  });

  it("leads nobody to what a canary alone has, nor to what a rollback left and a canary tries again", async () => {
    const store = await storeWith("1", "2");
    const left = lastRoot((await readHead(store))?.head.steps ?? []);
    const tried = await createPublisher(store).stage(world("new"));
    await setCanary(store, { root: tried, percent: 10, labels: {} });
    await expect(rollback(store, tried, { pace })).rejects.toThrow("that is what the canary has");
    await rollback(store, 1, { pace });
    await setCanary(store, { root: left, percent: 10, labels: {} });
    await expect(rollback(store, left, { pace })).rejects.toThrow("that is what the canary has");
    expect(await leadsTo(store)).toBe("1");
  });

  it("says so when there is nothing to go back to", async () => {
    await expect(rollback(await storeWith("1"), 1)).rejects.toThrow("does not go back");
    await expect(rollback(memoryStore(), 1)).rejects.toThrow("nothing was published");
  });
});

describe("a canary", () => {
  it("is promoted to everybody, or ends without a trace in what is served", async () => {
    const store = await storeWith("stable");
    const root = await createPublisher(store).stage(world("new"));
    await setCanary(store, { root, percent: 10, labels: {} });
    expect(await leadsTo(store)).toBe("stable");
    await abortCanary(store);
    expect((await readHead(store))?.head.canary).toBeUndefined();
    await setCanary(store, { root, percent: 10, labels: {} });
    await promoteCanary(store, { pace });
    expect(await leadsTo(store)).toBe("new");
    expect((await readHead(store))?.head.canary).toBeUndefined();
  });

  it("goes on while others publish", async () => {
    const store = await storeWith("stable");
    const root = await createPublisher(store).stage(world("new"));
    await setCanary(store, { root, percent: 10, labels: {} });
    const publisher = createPublisher(store, { pace });
    await publisher.publish(world("stable 2"), await publisher.head());
    expect((await readHead(store))?.head.canary?.root).toBe(root);
  });

  it("needs a root that is there, and is there to be ended", async () => {
    const store = await storeWith("1");
    const root = "0".repeat(64);
    await expect(setCanary(store, { root, percent: 1, labels: {} })).rejects.toThrow("no blob");
    await expect(abortCanary(store)).rejects.toThrow("no canary");
    await expect(promoteCanary(store)).rejects.toThrow("no canary");
  });
});

describe("export and import", () => {
  it("carry a snapshot from store to store, root and all", async () => {
    const from = await storeWith("1", "2");
    const carried = memoryStore();
    const { root } = await exportSnapshot(from, carried);
    expect((await fsck(carried)).problems).toEqual([]);
    const to = await storeWith("other");
    expect(await importSnapshot(carried, to, { pace })).toMatchObject({ kind: "published", root });
    await expect(exportSnapshot(from, carried)).rejects.toThrow("already");
  });
});

describe("signatures", () => {
  it("hold for HEAD and a trusted key, and for nothing else", async () => {
    const [key, other] = [await makeSigningKey("roots"), await makeSigningKey("roots")];
    const steps = [{ root: "a".repeat(64), at: "2026-01-01T00:00:00.000Z" }];
    const head = { generation: 1, publication: "b".repeat(64), steps };
    const signed = await signHead(key, head);
    expect(await isSigned([publicPart(other), publicPart(key)], signed)).toBe(true);
    expect(await isSigned([publicPart(key)], parseHead(new TextEncoder().encode(JSON.stringify(signed))))).toBe(true);
    expect(await isSigned([publicPart(other)], signed)).toBe(false);
    expect(await isSigned([publicPart({ ...other, kid: key.kid })], signed)).toBe(false);
    expect(await isSigned([publicPart(key)], head)).toBe(false);
    expect(await isSigned([publicPart(key)], { ...signed, generation: 2 })).toBe(false);
    expect(await isSigned([publicPart(key)], { ...signed, signatures: [{ key: key.kid, value: "x" }] })).toBe(false);
    await expect(signHead(publicPart(key), head)).rejects.toThrow("has no private part");
  });
});
