import { describe, expect, it } from "vitest";
import { type Blob, blobKey } from "../../lib/base/blob.ts";
import { createWorldRecompiler } from "../../lib/compile/recompile.ts";
import { writeShard } from "../../lib/compile/shards/write-shard.ts";
import { type Prewrite, type Prewritten, stillThere } from "../../lib/snapshot/prewrite.ts";
import { memoryStore } from "../../lib/storage/memory.ts";
import type { ObjectStore } from "../../lib/storage/object-store.ts";
import { weightedShop } from "../integration/weighted-shop.ts";

/** A store that lists the keys of its blobs in the order in which they are written. */
function listing(): ObjectStore & { readonly written: string[] } {
  const store = memoryStore();
  const written: string[] = [];
  const put: ObjectStore["put"] = (key, bytes, condition) => {
    if (key.startsWith("blobs/")) written.push(key);
    return store.put(key, bytes, condition);
  };
  return { ...store, put, written };
}

/** Lays blobs into a store. @param onEnd called when all are written */
function prewriteInto(store: ObjectStore, onEnd = async () => {}): () => Prewrite {
  return () => {
    const blobs: Blob[] = [];
    const write = async (): Promise<Prewritten> => {
      for (const { hash, bytes } of blobs) await store.put(blobKey(hash), bytes, { ifNoneMatch: "*" });
      await onEnd();
      const bytes = blobs.reduce((sum, blob) => sum + blob.bytes.length, 0);
      return { blobs: new Set(blobs.map(({ hash }) => hash)), bytes };
    };
    return { write: (more) => blobs.push(...more), end: write };
  };
}

/** Some that dies before it has written anything. */
const dying = (): Prewrite => ({ write() {}, end: async () => ({ blobs: new Set(), bytes: 0 }) });

const build = "of this test";

/** All but the last, the entry of the history, which has the hour in it. */
const ofWorld = (written: readonly string[]): readonly string[] => written.slice(0, -1).sort();

async function published(startPrewrite: (() => Prewrite) | undefined, store = listing()) {
  await writeShard(store, "main", await weightedShop(10));
  const recompile = createWorldRecompiler({ store, build, startPrewrite });
  return { store, recompile, first: await recompile() };
}

describe("blobs that are laid while the rest of their world is made", () => {
  it("are those that are written when it is published otherwise, each once", async () => {
    const store = listing();
    let prewritten = 0;
    const counted = prewriteInto(store, async () => {
      prewritten = store.written.length;
    });
    const plain = await published(undefined);
    const early = await published(counted, store);
    expect(early.first.version).toBe(plain.first.version);
    expect(prewritten).toBeGreaterThan(0);
    expect(ofWorld(store.written)).toEqual(ofWorld(plain.store.written));
    expect(early.first.result.written).toEqual(plain.first.result.written);
  });

  it("count for none where the store does not say whether they are there", async () => {
    const list = (): never => {
      throw new Error("not now");
    };
    expect(await stillThere({ ...memoryStore(), list }, new Set(["hash"]))).toEqual(new Set());
  });

  it("are written when it is published where nobody came to lay them", async () => {
    const plain = await published(undefined);
    const { first, store } = await published(dying);
    expect(first.version).toBe(plain.first.version);
    expect(ofWorld(store.written)).toEqual(ofWorld(plain.store.written));
  });

  it("are those of a first compile: a change makes little, and so does a process that finds the most in the store", async () => {
    const started: string[] = [];
    const noting = (who: string) => () => {
      started.push(who);
      return dying();
    };
    const { store, recompile } = await published(noting("first"));
    await writeShard(store, "main", await weightedShop(20));
    await recompile();
    await writeShard(store, "main", await weightedShop(30));
    await createWorldRecompiler({ store, build, startPrewrite: noting("cold") })();
    expect(started).toEqual(["first"]);
  });
});
