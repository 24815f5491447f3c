import { describe, expect, it } from "vitest";
import { readShard } from "../../../lib/compile/shards/read-shard.ts";
import { listKey } from "../../../lib/compile/shards/source-shard.ts";
import { writeShard } from "../../../lib/compile/shards/write-shard.ts";
import { memoryStore } from "../../../lib/storage/memory.ts";
import type { ObjectStore } from "../../../lib/storage/object-store.ts";

const service = (name: string) => ({
  file: `${name}.yaml`,
  text: `apiVersion: v1\nkind: Service\nmetadata: {name: ${name}}\n`,
});

/** A store in which another process writes the list each time before this writer does. */
function contended(times: number) {
  const store = memoryStore();
  let puts = 0;
  const busy: ObjectStore = {
    ...store,
    async put(key, bytes, condition) {
      if (key === listKey("main") && condition !== undefined) {
        puts += 1;
        if (puts <= times) await writeShard(store, "main", [service(`other-${puts}`)]);
      }
      return store.put(key, bytes, condition);
    },
  };
  return { store, busy, puts: () => puts };
}

describe("a source that others write too", () => {
  it("is written when they leave room, after a pause that grows with each loss", async () => {
    const { store, busy } = contended(5);
    const pauses: number[] = [];
    await writeShard(busy, "main", [service("mine")], { pause: async (losses) => void pauses.push(losses) });
    expect(pauses).toEqual([1, 2, 3, 4, 5]);
    expect((await readShard(store, "main"))?.files.map(({ file }) => file)).toEqual(["mine.yaml"]);
  });

  it("is given up after so many losses, as they left it, and said to be", async () => {
    const { store, busy, puts } = contended(Number.POSITIVE_INFINITY);
    const written = writeShard(busy, "main", [service("mine")], { pause: async () => {} });
    await expect(written).rejects.toThrow("too many concurrent writers: source main");
    expect(puts()).toBe(30);
    expect((await readShard(store, "main"))?.files.map(({ file }) => file)).toEqual(["other-30.yaml"]);
  });
});
