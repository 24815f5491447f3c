import { expect, it } from "vitest";
import { blobKey } from "../../lib/base/blob.ts";
import { chunkedV1Format } from "../../lib/snapshot/format.ts";
import { lastRoot, readHead } from "../../lib/snapshot/head/head.ts";
import { refuseNewerRoots } from "../../lib/snapshot/head/history/newer-roots.ts";
import { createPublisher } from "../../lib/snapshot/publish.ts";
import { memoryStore } from "../../lib/storage/memory.ts";
import { worldOf } from "./worlds.ts";

it("refuses where HEAD names a root of a newer version, and neither where none is nor where one is damaged", async () => {
  const store = memoryStore();
  await refuseNewerRoots(store, undefined);
  const publisher = createPublisher(store, { pace: { settleMs: 0, retentionMs: 0 } });
  await publisher.publish(worldOf({ a: { clusters: { x: "1" } } }), undefined);
  const read = await readHead(store);
  await refuseNewerRoots(store, read);
  const root = blobKey(lastRoot(read?.head.steps ?? []));
  await store.put(root, new TextEncoder().encode("{"));
  await refuseNewerRoots(store, read);
  const newer = new TextEncoder().encode(JSON.stringify({ format: chunkedV1Format + 1, compiler: "portolan 9.0.0" }));
  await store.put(root, newer);
  await expect(refuseNewerRoots(store, read)).rejects.toThrow("was written by portolan 9.0.0");
});
