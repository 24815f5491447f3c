import { describe, expect, it } from "vitest";
import { fsck } from "../../lib/snapshot/fsck.ts";
import { readHead } from "../../lib/snapshot/head.ts";
import {
  abortCanary,
  exportSnapshot,
  importSnapshot,
  promoteCanary,
  rollback,
  setCanary,
} from "../../lib/snapshot/head-operations.ts";
import { createPublisher } from "../../lib/snapshot/publish.ts";
import { restoreWorld } from "../../lib/snapshot/restore-world.ts";
import { isSigned, signRoot } from "../../lib/snapshot/signatures.ts";
import { createSnapshotReader } from "../../lib/snapshot/snapshot-reader.ts";
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
  const { world: led } = await restoreWorld(createSnapshotReader(store), read?.head.steps.at(-1)?.root ?? "");
  return contentsOf(led, "web", "routes")["80"];
}

describe("rollback", () => {
  it("leads back by one or more publications, and is itself one", async () => {
    const store = await storeWith("1", "2", "3");
    await rollback(store, 1, { pace });
    expect(await leadsTo(store)).toBe("2");
    await rollback(store, 3, { pace });
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
  it("hold for the root and a trusted key, also while keys rotate, and for nothing else", async () => {
    const store = memoryStore();
    const pair = async (keyId: string) => {
      const keys = await crypto.subtle.generateKey("Ed25519", false, ["sign", "verify"]);
      if (!("privateKey" in keys)) throw new Error("no key pair");
      const { privateKey, publicKey } = keys;
      return { signer: { keyId, privateKey }, trusted: { keyId, publicKey } };
    };
    const [old, young, foreign] = [await pair("2025"), await pair("2026"), await pair("2026")];
    const root = "a".repeat(64);
    await signRoot(store, old.signer, root);
    expect(await isSigned(store, [young.trusted, old.trusted], root)).toBe(true);
    expect(await isSigned(store, [young.trusted], root)).toBe(false);
    await signRoot(store, young.signer, root);
    expect(await isSigned(store, [young.trusted], root)).toBe(true);
    expect(await isSigned(store, [foreign.trusted], root)).toBe(false);
    expect(await isSigned(store, [young.trusted], "b".repeat(64))).toBe(false);
  });
});
