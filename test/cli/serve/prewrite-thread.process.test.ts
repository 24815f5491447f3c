import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { blobKey, blobOf } from "../../../lib/base/blob.ts";
import { prewriteByThread } from "../../../lib/cli/serve/prewrite-thread.ts";
import { createWorldRecompiler } from "../../../lib/compile/recompile.ts";
import { writeShard } from "../../../lib/compile/shards/write-shard.ts";
import { fileStore } from "../../../lib/storage/files/files.ts";
import { memoryStore } from "../../../lib/storage/memory.ts";
import { weightedShop } from "../../integration/weighted-shop.ts";

let where: string;
beforeEach(async () => {
  where = await mkdtemp(join(tmpdir(), "portolan-laying-"));
});
afterEach(() => rm(where, { recursive: true }));

const [one, other] = [blobOf("one"), blobOf("other")];

function byThread(place = where) {
  const log: string[] = [];
  return { log, startPrewrite: prewriteByThread({ where: place, onTrouble: (reason) => log.push(reason) }) };
}

describe("a thread that lays blobs", () => {
  it("says which it has written, and not those that were there", async () => {
    const store = fileStore(where);
    await store.put(blobKey(one.hash), one.bytes);
    const { log, startPrewrite } = byThread();
    const prewrite = startPrewrite();
    prewrite.write([one]);
    prewrite.write([other]);
    expect(await prewrite.end()).toEqual({ blobs: new Set([other.hash]), bytes: other.bytes.length });
    expect(await store.get(blobKey(other.hash))).toMatchObject({ kind: "found", bytes: other.bytes });
    expect(log).toEqual([]);
  }, 60_000);

  it("says nothing of what was taken away before its end", async () => {
    const store = fileStore(where);
    const prewrite = byThread().startPrewrite();
    prewrite.write([one]);
    prewrite.write([other]);
    await vi.waitFor(async () => expect((await store.get(blobKey(other.hash))).kind).toBe("found"), 50_000);
    await store.delete(blobKey(one.hash));
    expect(await prewrite.end()).toEqual({ blobs: new Set([other.hash]), bytes: other.bytes.length });
  }, 60_000);

  it("leaves all to whoever publishes when it dies, and tells why", async () => {
    const { log, startPrewrite } = byThread("s3://");
    const prewrite = startPrewrite();
    prewrite.write([one]);
    expect(await prewrite.end()).toEqual({ blobs: new Set(), bytes: 0 });
    expect(log).toEqual([expect.stringContaining("the thread that writes has ended: ")]);
  }, 60_000);

  it("leads to the root that a compile without it does", async () => {
    const { log, startPrewrite } = byThread();
    const versions: string[] = [];
    for (const [store, options] of [
      [memoryStore(), {}],
      [fileStore(where), { startPrewrite }],
    ] as const) {
      await writeShard(store, "main", await weightedShop(10));
      const { kind, version } = await createWorldRecompiler({ store, ...options })();
      expect(kind).toBe("published");
      versions.push(version);
    }
    expect(versions[0]).toBe(versions[1]);
    expect(log).toEqual([]);
  }, 60_000);
});
