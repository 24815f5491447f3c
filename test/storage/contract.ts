import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ObjectStore } from "../../lib/storage/object-store.ts";

export interface OpenStore {
  readonly store: ObjectStore;
  close(): Promise<void>;
}

const bytes = (text: string) => new TextEncoder().encode(text);
const text = (value: Uint8Array) => new TextDecoder().decode(value);

/** @param store an empty one, whose pages hold two objects */
export async function expectAllPages(store: ObjectStore): Promise<void> {
  const keys = ["a/1", "a/2", "b/1", "c/1", "d", "e"];
  for (const key of keys) await store.put(key, bytes(key));
  const listed = async (after?: string) => {
    const found: string[] = [];
    for await (const { key } of store.list("", after)) found.push(key);
    return found;
  };
  expect(await listed()).toEqual(keys);
  expect(await listed("a/2")).toEqual(keys.slice(2));
  expect(await store.folders("")).toEqual(["a", "b", "c"]);
}

/**
 * The rules that every store obeys; `open` gives an empty one, or one in which nobody else uses the prefix `t-…`.
 *
 * @param binary what a store has to give back that takes no object without looking for secrets: what it cannot read it refuses
 */
export function storeContract(
  name: string,
  open: () => Promise<OpenStore>,
  binary = new Uint8Array([0, 255, 13, 10, 128]),
): void {
  describe(`${name} as an object store`, () => {
    let opened: OpenStore;
    let store: ObjectStore;
    let keys = 0;
    const freshKey = () => {
      keys += 1;
      return `t-${keys}/object`;
    };
    beforeAll(async () => {
      opened = await open();
      store = opened.store;
    }, 180_000);
    afterAll(() => opened?.close());

    async function read(key: string): Promise<string | undefined> {
      const result = await store.get(key);
      return result.kind === "found" ? text(result.bytes) : undefined;
    }

    async function etagOf(key: string): Promise<string> {
      const result = await store.get(key);
      return result.kind === "found" ? result.etag : "";
    }

    it("says absent for what was never written", async () => {
      expect(await store.get(freshKey())).toEqual({ kind: "absent" });
    });

    it("gives back the bytes that were put, empty and binary ones too", async () => {
      const key = freshKey();
      for (const value of [new Uint8Array(), binary, bytes("plain")]) {
        await store.put(key, value);
        const result = await store.get(key);
        expect(result.kind === "found" && [...result.bytes]).toEqual([...value]);
      }
    });

    it("gives the same etag on writing and on reading", async () => {
      const key = freshKey();
      const put = await store.put(key, bytes("a"));
      expect(put).toEqual({ kind: "stored", etag: await etagOf(key) });
    });

    it("says unchanged to a reader who names the current etag, and sends the rest to others", async () => {
      const key = freshKey();
      await store.put(key, bytes("a"));
      const etag = await etagOf(key);
      expect(await store.get(key, { ifNoneMatch: etag })).toEqual({ kind: "unchanged" });
      await store.put(key, bytes("b"));
      expect((await store.get(key, { ifNoneMatch: etag })).kind).toBe("found");
    });

    it("creates only once", async () => {
      const key = freshKey();
      expect((await store.put(key, bytes("first"), { ifNoneMatch: "*" })).kind).toBe("stored");
      expect(await store.put(key, bytes("second"), { ifNoneMatch: "*" })).toEqual({ kind: "lost" });
      expect(await read(key)).toBe("first");
    });

    it("creates again what was deleted", async () => {
      const key = freshKey();
      await store.put(key, bytes("1"));
      await store.put(key, bytes("2"));
      await store.delete(key);
      expect(await store.get(key)).toEqual({ kind: "absent" });
      expect((await store.put(key, bytes("3"), { ifNoneMatch: "*" })).kind).toBe("stored");
      expect(await read(key)).toBe("3");
    });

    it("swaps only what is still as it was read", async () => {
      const key = freshKey();
      await store.put(key, bytes("1"));
      const etag = await etagOf(key);
      expect((await store.put(key, bytes("2"), { ifMatch: etag })).kind).toBe("stored");
      expect(await store.put(key, bytes("3"), { ifMatch: etag })).toEqual({ kind: "lost" });
      expect(await read(key)).toBe("2");
    });

    it("never swaps what is absent", async () => {
      const key = freshKey();
      expect(await store.put(key, bytes("1"), { ifMatch: "whatever" })).toEqual({ kind: "lost" });
      expect(await store.get(key)).toEqual({ kind: "absent" });
    });

    it("lets exactly one of 50 parallel creators win", async () => {
      const key = freshKey();
      const results = await Promise.all(
        Array.from({ length: 50 }, (_, i) => store.put(key, bytes(`writer ${i}`), { ifNoneMatch: "*" })),
      );
      const winners = results.flatMap((result, i) => (result.kind === "stored" ? [i] : []));
      expect(winners).toHaveLength(1);
      expect(await read(key)).toBe(`writer ${winners[0]}`);
    });

    it("lets exactly one of 50 parallel swappers win, round after round", async () => {
      const key = freshKey();
      await store.put(key, bytes("round 0"));
      for (let round = 1; round <= 3; round += 1) {
        const etag = await etagOf(key);
        const results = await Promise.all(
          Array.from({ length: 50 }, (_, i) => store.put(key, bytes(`round ${round} writer ${i}`), { ifMatch: etag })),
        );
        const winners = results.flatMap((result, i) => (result.kind === "stored" ? [i] : []));
        expect(winners).toHaveLength(1);
        expect(await read(key)).toBe(`round ${round} writer ${winners[0]}`);
      }
    });

    it("lists by prefix, by code point, without the rest", async () => {
      for (const key of ["t-list/b", "t-list/a-b/c", "t-list/a/z", "t-list/a/b", "t-list/B", "t-lis", "t-lisu"]) {
        await store.put(key, bytes(key));
      }
      const list = async (prefix: string) => {
        const found: string[] = [];
        for await (const object of store.list(prefix)) {
          expect(object.sizeBytes).toBe(object.key.length);
          found.push(object.key);
        }
        return found;
      };
      expect(await list("t-list/")).toEqual(["t-list/B", "t-list/a-b/c", "t-list/a/b", "t-list/a/z", "t-list/b"]);
      expect(await list("t-list/a")).toEqual(["t-list/a-b/c", "t-list/a/b", "t-list/a/z"]);
      expect(await list("t-nothing/")).toEqual([]);
      const rest: string[] = [];
      for await (const { key } of store.list("t-list/", "t-list/a-b/c")) rest.push(key);
      expect(rest).toEqual(["t-list/a/b", "t-list/a/z", "t-list/b"]);
      for await (const { key } of store.list("t-list/", "t-list/a0")) expect(key).toBe("t-list/b");
    });

    it("names the folders in which anything lies, each once, by code point", async () => {
      const keys = [
        "t-folders/b/1",
        "t-folders/a-b/c/d",
        "t-folders/a/z",
        "t-folders/a/b",
        "t-folders/B/1",
        "t-folders/file",
      ];
      for (const key of [...keys, "t-folders/gone/deep/1", "t-folders/gone/2"]) await store.put(key, bytes(key));
      await store.put("t-folders/b/1", bytes("again"));
      await store.delete("t-folders/gone/deep/1");
      await store.delete("t-folders/gone/2");
      expect(await store.folders("t-folders/")).toEqual(["B", "a", "a-b", "b"]);
      expect(await store.folders("t-folders/a-b/")).toEqual(["c"]);
      expect(await store.folders("t-folders/none/")).toEqual([]);
      expect(await store.folders("")).toContain("t-folders");
    });

    it("lists an object once, with its newest size, after it was replaced", async () => {
      const key = freshKey();
      await store.put(key, bytes("1"));
      await store.put(key, bytes("22"));
      const found: unknown[] = [];
      for await (const { key: found_, sizeBytes } of store.list(key)) found.push([found_, sizeBytes]);
      expect(found).toEqual([[key, 2]]);
    });

    it("forgets what is deleted, and takes a second delete calmly", async () => {
      const key = freshKey();
      await store.put(key, bytes("1"));
      await store.delete(key);
      await store.delete(key);
      expect(await store.get(key)).toEqual({ kind: "absent" });
    });

    it.each(["", "/a", "a//b", "../a", "a/../b", ".hidden", "a b", "ü", "a\\b", "a#", `a/${"x".repeat(300)}`])(
      "refuses the key %j",
      async (key) => {
        await expect(store.put(key, bytes("1"))).rejects.toThrow("not a storage key");
        await expect(store.get(key)).rejects.toThrow("not a storage key");
      },
    );
  });
}
