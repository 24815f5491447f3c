import { describe, expect, it } from "vitest";
import { blobKey } from "../../../lib/base/blob.ts";
import { createRecompiler } from "../../../lib/compile/recompile.ts";
import { writeShard } from "../../../lib/compile/shards/write-shard.ts";
import { missedBlobKey } from "../../../lib/snapshot/nodes/wanted.ts";
import { createSnapshotReader } from "../../../lib/snapshot/reader/snapshot-reader.ts";
import { fsck } from "../../../lib/snapshot/upkeep/fsck.ts";
import { reachableFrom } from "../../../lib/snapshot/upkeep/reachable.ts";
import { memoryStore } from "../../../lib/storage/memory.ts";
import type { ObjectStore } from "../../../lib/storage/object-store.ts";
import { allOf } from "../../all-of.ts";
import { nodeOf, pollBody, testFront } from "../fixtures.ts";

const shop = `apiVersion: v1
kind: Service
metadata: {name: web, namespace: default}
spec: {ports: [{port: 80, name: http}]}
---
apiVersion: v1
kind: Pod
metadata: {name: web-0, namespace: default, labels: {app: web}}
spec: {containers: [{name: istio-proxy}]}
status: {phase: Running, podIP: 10.0.0.5}
`;

/** A mesh that is published, its compile function, which has looked at every blob a moment ago, and a front that has read none. */
async function scene() {
  let nowMs = 1_000_000;
  const store = memoryStore(() => nowMs);
  const now = () => nowMs;
  await writeShard(store, "main", [{ file: "shop.yaml", text: shop }]);
  const recompile = createRecompiler({ store, now, publisher: { pace: { settleMs: 0, retentionMs: 0 } } });
  const { version } = await recompile();
  let compiles = 0;
  let last: Promise<unknown> = Promise.resolve();
  const trigger = () => {
    compiles += 1;
    last = recompile();
    return last;
  };
  const { poll } = testFront({ store, now, onWanted: trigger });
  return {
    store,
    compiles: () => compiles,
    recompile,
    served: async () => Array.from(await reachableFrom(createSnapshotReader(store), version), blobKey),
    passMs: (ms: number) => {
      nowMs += ms;
    },
    status: async () => {
      const { status } = await poll("clusters", pollBody("clusters", nodeOf("web-0", { app: "web" })));
      // What was reported on the way is compiled before the test goes on.
      await new Promise(setImmediate);
      await last;
      return status;
    },
  };
}

describe("a front that misses a blob", () => {
  it.each([
    [
      "taken away by a deletion that comes after its collector has died",
      (store: ObjectStore, key: string) => store.delete(key),
    ],
    ["damaged", (store: ObjectStore, key: string) => store.put(key, new Uint8Array(3))],
  ])("has it written anew, at the first poll that needs it: %s", async (_what, harm) => {
    const { store, status, compiles, served } = await scene();
    for (const key of await served()) await harm(store, key);
    expect((await fsck(store)).problems).not.toEqual([]);
    expect(await status()).toBeGreaterThanOrEqual(500);
    expect(await status()).toBe(200);
    expect([compiles(), (await fsck(store)).problems]).toEqual([1, []]);
    expect((await store.get(missedBlobKey)).kind).toBe("absent");
  });

  it("reports once in a minute, however many polls fail", async () => {
    const { store, status, compiles, passMs } = await scene();
    // Nothing can be compiled either, so that what is missing stays so.
    for await (const { key } of store.list("")) if (/^(blobs|sources)/.test(key)) await store.delete(key);
    const failing = async () => {
      for (let poll = 0; poll < 20; poll += 1) await status().catch(() => {});
    };
    await failing();
    expect(compiles()).toBe(1);
    passMs(60_000);
    await failing();
    // The report of before still lies there: whoever compiles next finds it.
    expect(compiles()).toBe(1);
    expect((await store.get(missedBlobKey)).kind).toBe("found");
  });

  it("leaves its report out of the classes that nodes want", async () => {
    const { store, recompile } = await scene();
    await store.put(missedBlobKey, new Uint8Array(64));
    expect(await recompile()).toMatchObject({ kind: "unchanged" });
    expect(await allOf(store.list("wanted/"))).toEqual([]);
  });
});
