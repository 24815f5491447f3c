import { expect, it } from "vitest";
import { blobKey } from "../../lib/base/blob.ts";
import { createPublisher } from "../../lib/snapshot/publish.ts";
import type { BlobSource } from "../../lib/snapshot/reader/blobs.ts";
import { createSnapshotReader } from "../../lib/snapshot/reader/snapshot-reader.ts";
import { memoryStore } from "../../lib/storage/memory.ts";
import { worldOf } from "./worlds.ts";

/** Ten roots, each of a hundred classes. */
const store = memoryStore();
const roots: string[] = [];
const publisher = createPublisher(store, { pace: { settleMs: 0, retentionMs: 0 } });
for (let round = 0; round < 10; round++) {
  const classes = Array.from({ length: 100 }, (_, i) => [`class-${i}`, { clusters: { a: `${round}` } }] as const);
  await publisher.publish(worldOf(Object.fromEntries(classes)), await publisher.head());
  roots.push((await publisher.head())?.head.steps.at(-1)?.root ?? "");
}
const { storedBytes } = await createSnapshotReader(store).root(roots[0] ?? "");

/** Which of them are read from the store, when somebody looks at these one after the other. */
async function readOf(maxBytes: number, looked: readonly string[]): Promise<readonly string[]> {
  const read: string[] = [];
  const counted: BlobSource = {
    get: (key) => {
      const root = roots.find((hash) => blobKey(hash) === key);
      if (root !== undefined) read.push(root);
      return store.get(key);
    },
  };
  const reader = createSnapshotReader(counted, maxBytes);
  for (const hash of looked) await reader.root(hash);
  return read;
}

it("keeps as many roots as there is room for by their size, and not a number of them", async () => {
  expect(storedBytes).toBeGreaterThan(5_000);
  const twice = [...roots, ...roots];
  expect(await readOf(20 * storedBytes, twice)).toEqual(roots);
  expect(await readOf(4.5 * storedBytes, twice)).toEqual(twice);
  const [a = "", b = "", c = ""] = roots;
  expect(await readOf(2.5 * storedBytes, [a, b, a, c, a, b])).toEqual([a, b, c, b]);
});

it("keeps the one that was asked for last, however large it is", async () => {
  const [a = "", b = ""] = roots;
  expect(await readOf(storedBytes / 2, [a, a, a, b, b])).toEqual([a, b]);
});
