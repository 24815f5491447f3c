import { describe, expect, it } from "vitest";
import { blobKey, blobOf } from "../../../lib/base/blob.ts";
import { readOnce } from "../../../lib/snapshot/memoize/read-once.ts";
import { memoryStore } from "../../../lib/storage/memory.ts";
import type { ObjectStore } from "../../../lib/storage/object-store.ts";

const blobs = ["one", "two", "three"].map((text) => blobOf(text));
const keys = blobs.map(({ hash }) => blobKey(hash));
const [first = "", second = ""] = keys;

/** A store with all of them but the last, and what it was asked for. */
async function countingStore(): Promise<{ readonly below: ObjectStore; readonly asked: string[] }> {
  const store = memoryStore();
  for (const { hash, bytes } of blobs.slice(0, 2)) await store.put(blobKey(hash), bytes);
  const asked: string[] = [];
  const get: ObjectStore["get"] = (key, condition) => {
    asked.push(key);
    return store.get(key, condition);
  };
  return { below: { ...store, get }, asked };
}

describe("reading blobs once", () => {
  it("asks the store once for what several read, until it is forgotten", async () => {
    const { below, asked } = await countingStore();
    const { store, forget } = readOnce(below);
    const [one, other] = await Promise.all([store.get(first), store.get(first)]);
    expect(one).toEqual(other);
    await store.get(first);
    expect(asked).toEqual([first]);
    forget();
    await store.get(first);
    expect(asked).toEqual([first, first]);
  });

  it("asks again for what is absent, and for what is no blob", async () => {
    const { below, asked } = await countingStore();
    const { store } = readOnce(below);
    const absent = keys[2] ?? "";
    expect((await store.get(absent)).kind).toBe("absent");
    const late = blobs[2];
    if (late !== undefined) await below.put(absent, late.bytes);
    expect((await store.get(absent)).kind).toBe("found");
    await store.get("HEAD");
    await store.get("HEAD");
    expect(asked).toEqual([absent, absent, "HEAD", "HEAD"]);
  });

  it("gives what was written since", async () => {
    const { below } = await countingStore();
    const { store } = readOnce(below);
    await store.get(first);
    await store.put(first, new TextEncoder().encode("mended"));
    const found = await store.get(first);
    expect(found.kind === "found" && new TextDecoder().decode(found.bytes)).toBe("mended");
    await store.delete(first);
    expect((await store.get(first)).kind).toBe("absent");
  });

  it("keeps no more bytes than it may", async () => {
    const { below, asked } = await countingStore();
    const { store } = readOnce(below, 4);
    for (const key of [first, second, first, second]) await store.get(key);
    expect(asked).toEqual([first, second, second]);
  });

  it("asks again where the store failed", async () => {
    const { below } = await countingStore();
    let fails = true;
    const { store } = readOnce({
      ...below,
      get: async (key, condition) => {
        if (fails) throw new Error("no answer");
        return below.get(key, condition);
      },
    });
    await expect(store.get(first)).rejects.toThrow("no answer");
    fails = false;
    expect((await store.get(first)).kind).toBe("found");
  });
});
