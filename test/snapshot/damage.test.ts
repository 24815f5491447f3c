import { describe, expect, it } from "vitest";
import { blobOfKey } from "../../lib/base/blob.ts";
import { readHead } from "../../lib/snapshot/head/head.ts";
import { rollback } from "../../lib/snapshot/head/head-operations.ts";
import { createPublisher } from "../../lib/snapshot/publish.ts";
import { fsck } from "../../lib/snapshot/upkeep/fsck.ts";
import { memoryStore } from "../../lib/storage/memory.ts";
import type { ObjectStore } from "../../lib/storage/object-store.ts";
import { allOf } from "../all-of.ts";
import { nodeOf, pollBody, testFront } from "../front/fixtures.ts";
import { manyNamed, worldOf } from "./worlds.ts";

const pace = { settleMs: 0, retentionMs: 0 };
const world = (content: string) =>
  worldOf(
    { web: { clusters: { a: content, b: "same" }, listeners: { l: "1" }, routes: { "80": content } } },
    { nodes: [{ keys: ["web.default"], classId: "web" }, manyNamed("web")] },
  );

const publish = async (store: ObjectStore, content: string) => {
  const publisher = createPublisher(store, { pace, now: () => Date.UTC(2026, 0, 1) });
  return publisher.publish(world(content), await publisher.head());
};

/** What may come over a blob. */
const harms: readonly (readonly [string, (store: ObjectStore, key: string) => Promise<unknown>])[] = [
  ["missing", (store, key) => store.delete(key)],
  ["empty", (store, key) => store.put(key, new Uint8Array())],
  ["cut", async (store, key) => change(store, key, (bytes) => bytes.slice(0, bytes.length / 2))],
  ["changed", async (store, key) => change(store, key, (bytes) => bytes.with(bytes.length - 1, 0x20))],
];

async function change(
  store: ObjectStore,
  key: string,
  to: (bytes: Uint8Array<ArrayBuffer>) => Uint8Array<ArrayBuffer>,
) {
  const found = await store.get(key);
  if (found.kind === "found") await store.put(key, to(found.bytes));
}

const blobKeys = async (store: ObjectStore) =>
  (await allOf(store.list("blobs/"))).map(({ key }) => key).filter((key) => blobOfKey(key) !== undefined);

/** A store with one publication in which one blob is not as it should be, for each of its blobs. */
async function harmed(harm: (store: ObjectStore, key: string) => Promise<unknown>) {
  const stores: ObjectStore[] = [];
  const reference = memoryStore();
  await publish(reference, "1");
  for (const key of await blobKeys(reference)) {
    const store = memoryStore();
    await publish(store, "1");
    await harm(store, key);
    stores.push(store);
  }
  return stores;
}

describe.each(harms)("a blob that is %s", (_what, harm) => {
  it("is written anew by the next publish of what it belongs to", async () => {
    for (const store of await harmed(harm)) {
      const before = await fsck(store);
      const { written } = needTold(await publish(store, "1"));
      const after = await fsck(store);
      // The history's entry is nobody's to compile.
      if (written.mended === 0) expect(before.problems.join()).toMatch(/^(publication|blob|HEAD|the history)/);
      else expect(after.problems).toEqual([]);
    }
  });

  it("neither stops the next publish, nor is relied upon by it", async () => {
    for (const store of await harmed(harm)) {
      needTold(await publish(store, "2"));
      const head = (await readHead(store))?.head;
      const { problems } = await fsck(store, { keepPublications: 1 });
      expect(problems.filter((problem) => problem.includes(head?.steps.at(-1)?.root ?? "?"))).toEqual([]);
      expect(problems.filter((problem) => problem.startsWith("root "))).toEqual([]);
    }
  });

  it("is not served", async () => {
    for (const store of await harmed(harm)) {
      const test = testFront({ store });
      const ask = async (type: "clusters" | "listeners" | "routes") => {
        const names = type === "routes" ? { names: ["80"] } : {};
        const response = await test.poll(type, pollBody(type, nodeOf("web"), names));
        return response.status === 200 ? (await response.text()).replace(/"version_info":"\w+"/, "") : response.status;
      };
      const whole = testFront();
      await whole.publish(world("1"));
      for (const type of ["clusters", "listeners", "routes"] as const) {
        const answer = await ask(type);
        if (typeof answer === "number") expect(answer).toBe(503);
        else expect(answer).toContain('"name":');
      }
    }
  });
});

describe("a served root that cannot be read", () => {
  it("is left behind by a rollback, without steps", async () => {
    const store = memoryStore();
    await publish(store, "1");
    const kept = new Set(await blobKeys(store));
    const { root } = needTold(await publish(store, "2"));
    for (const key of await blobKeys(store))
      if (!kept.has(key) && !key.endsWith(await entryOf(store))) await store.delete(key);
    await rollback(store, 1, { pace });
    const head = (await readHead(store))?.head;
    expect(head?.steps.map((step) => step.root)).not.toContain(root);
    expect((await fsck(store, { keepPublications: 1 })).problems.filter((text) => !text.includes(root))).toEqual([]);
  });

  it("is nothing to roll back to: the reason says how to mend it, and farther back is free", async () => {
    const before = memoryStore();
    await publish(before, "1");
    const older = new Set(await blobKeys(before));
    await publish(before, "2");
    const ofTwo = (await blobKeys(before)).filter((key) => !older.has(key));
    const entry = await entryOf(before);
    for (const key of ofTwo.filter((key) => !key.endsWith(entry))) {
      const store = memoryStore();
      for (const content of ["1", "2", "3"]) await publish(store, content);
      await store.put(key, new TextEncoder().encode("{}"));
      await publish(store, "3");
      await expect(rollback(store, 1, { pace })).rejects.toThrow("portolan fsck --repair");
      await rollback(store, 2, { pace });
      expect((await fsck(store, { keepPublications: 1 })).problems).toEqual([]);
    }
  });

  it("is not taken for one while the store only fails", async () => {
    const store = memoryStore();
    await publish(store, "1");
    const failing: ObjectStore = {
      ...store,
      get: async (key, condition) => {
        if (key.startsWith("blobs/")) throw new Error("the store failed");
        return store.get(key, condition);
      },
    };
    await expect(publish(failing, "2")).rejects.toThrow("the store failed");
  });
});

const entryOf = async (store: ObjectStore) => (await readHead(store))?.head.publication ?? "";

function needTold(result: Awaited<ReturnType<typeof publish>>) {
  if (result.kind === "lost") throw new Error("lost");
  return result;
}
