import { describe, expect, it } from "vitest";
import { blobKey } from "../../lib/base/blob.ts";
import { readHead } from "../../lib/snapshot/head/head.ts";
import { rollback } from "../../lib/snapshot/head/head-operations.ts";
import { isSigned } from "../../lib/snapshot/head/signatures.ts";
import { makeSigningKey, publicPart } from "../../lib/snapshot/head/signing-keys.ts";
import { createPublisher } from "../../lib/snapshot/publish.ts";
import { replicate } from "../../lib/snapshot/regions/replicate.ts";
import { takeOver } from "../../lib/snapshot/regions/take-over.ts";
import { collectGarbage } from "../../lib/snapshot/upkeep/collect-garbage.ts";
import { fsck } from "../../lib/snapshot/upkeep/fsck.ts";
import { memoryStore } from "../../lib/storage/memory.ts";
import type { ObjectStore } from "../../lib/storage/object-store.ts";
import { allOf } from "../all-of.ts";
import { worldOf } from "./worlds.ts";

const pace = { settleMs: 0, retentionMs: 0 };
const dayMs = 24 * 3_600_000;
const utf8 = (text: string) => new TextEncoder().encode(text);

async function publish(store: ObjectStore, ...contents: readonly string[]): Promise<void> {
  const publisher = createPublisher(store, { pace });
  for (const content of contents) {
    const world = worldOf({ web: { clusters: { a: "1" }, routes: { "80": content } } });
    await publisher.publish(world, await publisher.head());
  }
}

const keysOf = async (store: ObjectStore) => (await allOf(store.list(""))).map(({ key }) => key);
const generationOf = async (store: ObjectStore) => (await readHead(store))?.head.generation;

async function textOf(store: ObjectStore, key: string): Promise<string | undefined> {
  const found = await store.get(key);
  return found.kind === "found" ? new TextDecoder().decode(found.bytes) : undefined;
}

describe("a copy of a store", () => {
  it("has all that serves, compiles and is rolled back to, and nothing that is the original's own", async () => {
    const [from, to] = [memoryStore(), memoryStore()];
    await publish(from, "1", "2");
    const hash = "ab".repeat(32);
    const shared = {
      "sources/main/list": "l",
      [`sources/main/files/${hash}`]: "f",
      "secrets/shop/tls": "s",
      "compile/settings": "{}",
    };
    const own = {
      "compile/lease": "x",
      "hooks/1": "x",
      "status/a": "x",
      "confirmed/a": "x",
      "wanted/a": "x",
    };
    for (const [key, text] of Object.entries({ ...shared, ...own })) await from.put(key, utf8(text));
    const done = await replicate(from, to);
    expect(done).toMatchObject({ generation: 2, deleted: 0 });
    const copied = (await keysOf(to)).filter((key) => key !== "copy-of");
    expect(copied).toEqual((await keysOf(from)).filter((key) => !(key in own)));
    expect(done.objects).toBe(copied.length);
    expect((await fsck(to)).problems).toEqual([]);
    expect(await replicate(from, to)).toMatchObject({ objects: 0, bytes: 0 });
    await from.put("sources/main/list", utf8("l2"));
    await from.delete("secrets/shop/tls");
    expect(await replicate(from, to)).toMatchObject({ objects: 1, deleted: 1 });
    expect(await textOf(to, "sources/main/list")).toBe("l2");
    expect(await textOf(to, "secrets/shop/tls")).toBe(undefined);
    expect(await rollback(to, 1, { pace })).toMatchObject({ head: { generation: 3 } });
  });

  it("is whole at any time: HEAD comes last, and not at all where something is missing or damaged", async () => {
    const [from, to] = [memoryStore(), memoryStore()];
    await publish(from, "1");
    await replicate(from, to);
    await publish(from, "2");
    const root = (await readHead(from))?.head.steps.at(-1)?.root ?? "";
    // A copy that is cut off at any of its writes.
    for (let left = 0; ; left += 1) {
      const copy = memoryStore();
      for (const { key } of await allOf(to.list(""))) await copy.put(key, utf8((await textOf(to, key)) ?? ""));
      let puts = 0;
      const cut: ObjectStore = {
        ...copy,
        put: (key, bytes, condition) =>
          puts++ < left ? copy.put(key, bytes, condition) : Promise.reject(new Error("cut off")),
      };
      const outcome = await replicate(from, cut).then(
        () => "done",
        () => "cut",
      );
      expect((await fsck(copy)).problems).toEqual([]);
      expect(await generationOf(copy)).toBe(outcome === "done" ? 2 : 1);
      if (outcome === "done") break;
      expect(left).toBeLessThan(100);
    }
    const whole = (await textOf(from, blobKey(root))) ?? "";
    await from.put(blobKey(root), utf8("rubbish"));
    await expect(replicate(from, to)).rejects.toThrow("holds other bytes than its name means");
    await from.delete(blobKey(root));
    await expect(replicate(from, to)).rejects.toThrow(`the store has no blob ${root}`);
    expect(await generationOf(to)).toBe(1);
    await from.put(blobKey(root), utf8(whole));
    expect(await replicate(from, to)).toMatchObject({ generation: 2 });
  });

  it("loses nothing with the original, and old garbage only when it is told to", async () => {
    const [from, to] = [memoryStore(), memoryStore()];
    await publish(from, "1", "2", "3");
    await replicate(from, to);
    const blobs = async (store: ObjectStore) => (await keysOf(store)).filter((key) => key.startsWith("blobs/")).length;
    const all = await blobs(to);
    let nowMs = Date.now();
    for (let run = 0; run < 2; run += 1) {
      nowMs += 2 * dayMs;
      await collectGarbage(from, { keepPublications: 1, graceMs: 3_600_000, now: () => nowMs });
    }
    expect(await blobs(from)).toBeLessThan(all);
    await replicate(from, to, { now: () => nowMs });
    expect(await blobs(to)).toBeGreaterThanOrEqual(all);
    await replicate(from, to, { now: () => nowMs, prunes: true });
    expect(await blobs(to)).toBe(await blobs(from));
    expect((await fsck(to)).problems).toEqual([]);
    const lost = memoryStore();
    await expect(replicate(lost, to, { prunes: true })).rejects.toThrow("nothing was published yet");
    expect(await blobs(to)).toBe(await blobs(from));
  });
});

describe("a copy that takes over", () => {
  it("is above everything that the lost store may have had, says what it said, and is published into", async () => {
    const [east, west] = [memoryStore(), memoryStore()];
    await publish(east, "1", "2");
    await rollback(east, 1, { pace, why: "checkout is down" });
    await replicate(east, west);
    await publish(east, "3", "4", "5");
    const before = (await readHead(west))?.head;
    const { head, root } = await takeOver(west, { pace, by: "ann", why: "east is down" });
    expect(head).toMatchObject({ generation: 2000, pin: { why: "checkout is down" } });
    expect(root).toBe(before?.steps.at(-1)?.root);
    await publish(west, "6");
    expect(await generationOf(west)).toBe(2001);
    expect((await fsck(west)).problems).toEqual([]);
    expect((await takeOver(west, { pace, above: 7_123, forced: true })).head.generation).toBe(9000);
  });

  it("is none where nobody has copied, or while the original answers, unless that is forced", async () => {
    const [east, west] = [memoryStore(), memoryStore()];
    await publish(east, "1", "2");
    const places = { original: "s3://east", copy: "s3://west" };
    await replicate(east, west, { places });
    const asked: string[] = [];
    const open = async (place: string) => {
      asked.push(place);
      return east;
    };
    await expect(takeOver(east, { pace, open })).rejects.toThrow("this store is no copy");
    await expect(takeOver(west, { pace, open })).rejects.toThrow("s3://east, answers and is at generation 2");
    expect([await generationOf(east), await generationOf(west), asked]).toEqual([2, 2, ["s3://east"]]);
    await expect(replicate(west, east, { places: { original: "s3://west", copy: "s3://east" } })).rejects.toThrow(
      "s3://west is itself a copy of s3://east",
    );
    const lost = async () => {
      throw new Error("no such bucket");
    };
    expect((await takeOver(west, { pace, open: lost })).head.generation).toBe(2000);
    // It has the word now, and nobody takes that over once more by mistake.
    await expect(takeOver(west, { pace, open: lost })).rejects.toThrow("this store is no copy");
    await replicate(west, east, { places: { original: "s3://west", copy: "s3://east" } });
    await expect(takeOver(east, { pace, open: async () => west })).rejects.toThrow("s3://west, answers");
    expect((await takeOver(east, { pace, open: async () => west, forced: true })).head.generation).toBe(4000);
  });

  it("is none while the original answers in the format of a newer version, either", async () => {
    const [east, west] = [memoryStore(), memoryStore()];
    await publish(east, "1");
    await replicate(east, west, { places: { original: "s3://east", copy: "s3://west" } });
    await east.put("HEAD", utf8(JSON.stringify({ ...JSON.parse((await textOf(east, "HEAD")) ?? ""), format: 99 })));
    await expect(takeOver(west, { pace, open: async () => east })).rejects.toThrow("s3://east, answers");
    expect(await generationOf(west)).toBe(1);
  });

  it("is told of by an object of its own, which no copy of it has and nobody prunes", async () => {
    const [east, west, north] = [memoryStore(), memoryStore(), memoryStore()];
    await publish(east, "1");
    await replicate(east, west, { places: { original: "s3://east", copy: "s3://west" } });
    const later = () => Date.now() + 2 * dayMs;
    await replicate(east, west, { places: { original: "s3://east", copy: "s3://west" }, prunes: true, now: later });
    await replicate(west, north);
    expect(await Promise.all([east, west, north].map((store) => textOf(store, "copy-of")))).toEqual([
      undefined,
      "s3://east\n",
      "\n",
    ]);
  });

  it("is copied back over the store that was lost only when what that had by itself is given up", async () => {
    const [east, west] = [memoryStore(), memoryStore()];
    await publish(east, "1", "2");
    await replicate(east, west);
    await publish(east, "3");
    await takeOver(west, { pace });
    await publish(west, "4");
    await expect(replicate(east, west)).rejects.toThrow("is none of the original's, now at 3");
    await expect(replicate(west, east)).rejects.toThrow("is none of the original's, now at 2001");
    expect(await generationOf(east)).toBe(3);
    expect(await replicate(west, east, { discards: true })).toMatchObject({ generation: 2001 });
    expect((await fsck(east)).problems).toEqual([]);
    await publish(west, "5");
    expect(await replicate(west, east)).toMatchObject({ generation: 2002 });
  });

  it("has its HEAD signed, where keys are trusted", async () => {
    const [east, west] = [memoryStore(), memoryStore()];
    const signer = await makeSigningKey("roots");
    const trusted = [publicPart(signer)];
    const publisher = createPublisher(east, { pace, signer });
    await publisher.publish(worldOf({ web: { clusters: { a: "1" } } }), undefined);
    await replicate(east, west);
    await expect(takeOver(west, { pace })).rejects.toThrow("there is no key to sign it with");
    await takeOver(west, { pace, signer });
    const head = (await readHead(west))?.head;
    expect(head !== undefined && (await isSigned(trusted, head))).toBe(true);
  });

  it("has nothing to take over where nothing was copied", async () => {
    await expect(takeOver(memoryStore())).rejects.toThrow("nothing was copied yet");
  });
});
