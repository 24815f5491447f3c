import { describe, expect, it } from "vitest";
import { blobKey } from "../../lib/base/blob.ts";
import { readHead } from "../../lib/snapshot/head/head.ts";
import { exportSnapshot, rollback, setCanary } from "../../lib/snapshot/head/head-operations.ts";
import { recoverHead } from "../../lib/snapshot/head/recover-head.ts";
import { isSigned } from "../../lib/snapshot/head/signatures.ts";
import { makeSigningKey, publicPart } from "../../lib/snapshot/head/signing-keys.ts";
import { createPublisher } from "../../lib/snapshot/publish.ts";
import { collectGarbage } from "../../lib/snapshot/upkeep/collect-garbage.ts";
import { fsck } from "../../lib/snapshot/upkeep/fsck.ts";
import { memoryStore } from "../../lib/storage/memory.ts";
import type { ObjectStore } from "../../lib/storage/object-store.ts";
import { allOf } from "../all-of.ts";
import { faultyStore, seeded } from "./faulty-store.ts";
import { worldOf } from "./worlds.ts";

const pace = { settleMs: 0, retentionMs: 0 };
const world = (content: string) => worldOf({ web: { clusters: { a: "1" }, routes: { "80": content } } });

async function publish(store: ObjectStore, content: string) {
  const publisher = createPublisher(store, { pace });
  return publisher.publish(world(content), await publisher.head());
}

async function storeWith(...contents: readonly string[]): Promise<ObjectStore> {
  const store = memoryStore();
  for (const content of contents) await publish(store, content);
  return store;
}

const headOf = async (store: ObjectStore) => (await readHead(store))?.head;

/** How HEAD may be lost. */
const losses: readonly (readonly [string, (store: ObjectStore) => Promise<unknown>])[] = [
  ["gone", (store) => store.delete("HEAD")],
  ["empty", (store) => store.put("HEAD", new Uint8Array())],
  ["garbage", (store) => store.put("HEAD", new TextEncoder().encode('{"generation": 7, "steps": [}'))],
  ["without steps", (store) => store.put("HEAD", new TextEncoder().encode('{"generation":7,"steps":[]}'))],
];

describe("a history whose newest entry came without its root", () => {
  it("leads to what was served: the publisher of that entry was killed between the two", async () => {
    const below = await storeWith("1", "2");
    const { root } = (await headOf(below))?.steps.at(-1) ?? { root: "" };
    const put: ObjectStore["put"] = async (key, bytes, condition) => {
      // The entry is written meanwhile.
      if (new TextDecoder().decode(bytes).includes('"classifier"')) {
        await new Promise((resolve) => setTimeout(resolve, 10));
        throw new Error("killed");
      }
      return below.put(key, bytes, condition);
    };
    await expect(publish({ ...below, put }, "3")).rejects.toThrow("killed");
    await new Promise((resolve) => setTimeout(resolve, 20));
    for await (const { key } of below.list("heads/")) await below.delete(key);
    await below.delete("HEAD");
    expect(await recoverHead(below)).toMatchObject({ from: "history", root });
    expect((await fsck(below)).problems).toEqual([]);
  });
});

describe.each(losses)("a HEAD that is %s", (_what, lose) => {
  it("is not begun anew: who publishes, rolls back or collects is told how to rebuild it", async () => {
    const store = await storeWith("1", "2");
    await lose(store);
    const before = await allOf(store.list(""));
    await expect(publish(store, "3")).rejects.toThrow("`portolan recover` rebuilds it");
    await expect(rollback(store, 1)).rejects.toThrow("`portolan recover` rebuilds it");
    const gc = { keepPublications: 1, graceMs: 0, now: Date.now };
    await expect(collectGarbage(store, gc)).rejects.toThrow("`portolan recover` rebuilds it");
    expect((await fsck(store)).problems.join()).toContain("`portolan recover` rebuilds it");
    const after = await allOf(store.list(""));
    expect(before.filter(({ key }) => !after.some((one) => one.key === key))).toEqual([]);
  });

  it("is rebuilt with all that it held, and everything goes on from there", async () => {
    const store = await storeWith("1", "2", "3");
    await rollback(store, 1, { pace, by: "ann", why: "checkout is down" });
    await publish(store, "4");
    const tried = (await headOf(store))?.newest ?? "";
    await setCanary(store, { root: tried, percent: 10, labels: {} }, { pace });
    const before = await headOf(store);
    await lose(store);
    expect(await recoverHead(store, { by: "bob" })).toMatchObject({ from: "copy", unproven: [] });
    const { steps, pin, newest, canary } = before ?? {};
    expect(await headOf(store)).toMatchObject({ generation: 7, steps, pin, newest, canary });
    expect((await fsck(store)).problems).toEqual([]);
    expect(await publish(store, "5")).toMatchObject({ kind: "pinned" });
  });

  it("is rebuilt from the history alone, and held there since nobody knows what was pinned", async () => {
    const store = await storeWith("1", "2", "3");
    const served = (await headOf(store))?.steps.at(-1)?.root;
    for (const { key } of await allOf(store.list("heads/"))) await store.delete(key);
    await lose(store);
    expect(await recoverHead(store)).toMatchObject({ from: "history", root: served });
    expect(await headOf(store)).toMatchObject({ generation: 4, pin: { why: expect.stringContaining("rebuilt") } });
    expect((await fsck(store)).problems).toEqual([]);
  });
});

describe("rebuilding HEAD", () => {
  it("leaves one alone that can be read", async () => {
    await expect(recoverHead(await storeWith("1"))).rejects.toThrow("needs no recovery");
  });

  it("has nothing to work with in a store that nobody published into", async () => {
    await expect(recoverHead(memoryStore())).rejects.toThrow("publish again");
  });

  it("gives it a generation above all that were ever written, and says what it has left out", async () => {
    const store = await storeWith("1", "2");
    // Dies between HEAD and its copy.
    const copyless = {
      ...store,
      put: async (...[key, ...more]: Parameters<typeof store.put>) => {
        if (key.startsWith("heads/")) throw new Error("died");
        return store.put(key, ...more);
      },
    };
    await publish(copyless, "3");
    await store.delete("HEAD");
    expect(await recoverHead(store)).toMatchObject({ head: { generation: 4 }, unproven: [{ generation: 3 }] });
    expect((await fsck(store)).problems).toEqual([]);
  });

  it("takes only copies that are signed where keys are trusted, and signs no guess", async () => {
    const key = await makeSigningKey("roots");
    const trust = { signer: key, trusted: [publicPart(key)] };
    const store = memoryStore();
    const publisher = createPublisher(store, { pace, ...trust });
    for (const content of ["1", "2"]) await publisher.publish(world(content), await publisher.head());
    const served = (await headOf(store))?.steps;
    // Somebody else's, who has no key.
    const forged = await storeWith("a", "b", "c");
    const copy = await forged.get("heads/0000000003");
    await store.put("heads/0000000003", copy.kind === "found" ? copy.bytes : new Uint8Array());
    await store.delete("HEAD");
    const { head } = await recoverHead(store, trust);
    expect(head.steps).toEqual(served);
    expect(await isSigned(trust.trusted, head)).toBe(true);

    await store.delete("HEAD");
    await expect(recoverHead(store)).rejects.toThrow("HEAD is signed");
    for (const { key: name } of await allOf(store.list("heads/"))) await store.delete(name);
    const guessed = await recoverHead(store, trust);
    expect(guessed.from).toBe("history");
    expect(await isSigned(trust.trusted, guessed.head)).toBe(false);
  });

  it("passes over copies that are damaged", async () => {
    const store = await storeWith("1", "2");
    const [newest] = (await allOf(store.list("heads/"))).slice(-1);
    await store.put(newest?.key ?? "", new TextEncoder().encode('{"generation":2'));
    await store.delete("HEAD");
    expect(await recoverHead(store)).toMatchObject({ head: { generation: 3 }, unproven: [{ generation: 2 }] });
  });
});

describe("a first publish", () => {
  it("may be made again after it was killed anywhere before its HEAD", async () => {
    for (let diesAt = 1; diesAt < 16; diesAt += 1) {
      const store = memoryStore();
      const dying = faultyStore(store, { failsBefore: 0, failsAfter: 0, delays: 0, diesAt }, seeded(1));
      const first = await publish(dying, "1").catch(() => undefined);
      if (first === undefined && (await headOf(store)) === undefined) {
        expect(await publish(store, "1")).toMatchObject({ kind: "published", head: { generation: 1 } });
      }
    }
  });

  it("is not an export into a store whose HEAD is gone", async () => {
    const to = await storeWith("1");
    await to.delete("HEAD");
    await expect(exportSnapshot(await storeWith("2"), to)).rejects.toThrow("`portolan recover` rebuilds it");
  });
});

describe("an entry of the history that is damaged", () => {
  const harm = async (store: ObjectStore, publication: string) =>
    store.put(blobKey(publication), new TextEncoder().encode("{}"));

  it("is written anew from its copy by a rollback and by collecting garbage", async () => {
    for (const act of [
      (store: ObjectStore) => rollback(store, 2, { pace }),
      (store: ObjectStore) => collectGarbage(store, { keepPublications: 9, graceMs: 0, now: Date.now }),
    ]) {
      const store = await storeWith("1", "2", "3");
      await harm(store, (await headOf(store))?.publication ?? "");
      expect((await fsck(store)).problems.join()).toContain("the history lacks generation 3");
      await act(store);
      expect((await fsck(store)).problems).toEqual([]);
    }
  });

  it("ends the history where it has no copy; what stays goes on", async () => {
    const store = await storeWith("1", "2", "3", "4");
    const { entry } = await entryOfGeneration(store, 2);
    await harm(store, entry);
    for (const { key } of await allOf(store.list("heads/"))) await store.delete(key);
    await expect(rollback(store, 3, { pace })).rejects.toThrow("does not go back");
    await rollback(store, 1, { pace });
    const gc = { keepPublications: 9, graceMs: 0, now: Date.now };
    for (let run = 0; run < 2; run += 1) await collectGarbage(store, gc);
    expect((await fsck(store)).problems).toEqual([]);
  });
});

async function entryOfGeneration(store: ObjectStore, wanted: number) {
  for (let hash = (await headOf(store))?.publication ?? ""; hash !== ""; ) {
    const found = await store.get(blobKey(hash));
    const { generation, parent } = JSON.parse(
      new TextDecoder().decode(found.kind === "found" ? found.bytes : undefined),
    );
    if (generation === wanted) return { entry: hash };
    hash = parent;
  }
  throw new Error(`no generation ${wanted}`);
}
