import { describe, expect, it } from "vitest";
import { blobOfKey } from "../../lib/base/blob.ts";
import { createWorldRecompiler } from "../../lib/compile/recompile.ts";
import { createShardWriter } from "../../lib/compile/shards/write-shard.ts";
import { createReadAhead, type ReadAhead } from "../../lib/config/folder/files/read-ahead.ts";
import { memoryStore } from "../../lib/storage/memory.ts";
import type { ObjectStore } from "../../lib/storage/object-store.ts";
import { editedFiles, folderEdits } from "../bench/folder-edits.ts";
import { foldersFiles } from "../bench/mesh-folder.ts";
import { openProcess } from "../bench/open-process.ts";
import { slowStore, untilQuiet } from "../bench/slow-store.ts";
import { syntheticMesh } from "../bench/synthetic-mesh.ts";

const files = foldersFiles(syntheticMesh(60).text);
const edited = (round: number) => editedFiles(files, "app-0", (text) => folderEdits["virtual-service"](text, round));

describe("what a compile waits for", () => {
  it("reads each blob once, in a process that starts cold", async () => {
    const store = memoryStore();
    await openProcess(store)(files);
    const asked: string[] = [];
    const cold = openProcess({
      ...store,
      get(key, condition) {
        if (blobOfKey(key) !== undefined) asked.push(key);
        return store.get(key, condition);
      },
      // A list that vouches for nothing has every blob read that is to be whole: that is another matter.
    });
    const { root } = await cold(edited(1));
    const found = await store.get("HEAD");
    expect(found.kind === "found" && new TextDecoder().decode(found.bytes)).toContain(root);
    expect(asked.length).toBeGreaterThan(40);
    expect(asked.length).toBe(new Set(asked).size);
  });

  it("reads files while their texts are under way to the store, and publishes what it does otherwise", async () => {
    const below = memoryStore();
    const stored = Promise.withResolvers<void>();
    const read: string[] = [];
    const ahead = createReadAhead();
    const watched: ReadAhead = {
      ...ahead,
      read(file) {
        read.push(file.file);
        ahead.read(file);
        if (read.length === some.length) stored.resolve();
      },
    };
    const store: ObjectStore = {
      ...below,
      put: async (key, ...rest) => {
        if (key.startsWith("sources/main/files/")) await stored.promise;
        return below.put(key, ...rest);
      },
    };
    // No more than are under way at once.
    const some = [...files.slice(0, 20), { file: "broken.yaml", text: "kind: [" }];
    await createShardWriter(store, "main")(some, { ahead: watched });
    expect(read.toSorted()).toEqual(some.map(({ file }) => file).sort());
    const other = memoryStore();
    await createShardWriter(other, "main")(some);
    const roots = [
      await createWorldRecompiler({ store: below, ahead })(),
      await createWorldRecompiler({ store: other })(),
    ].map(({ version, diagnostics }) => ({ version, diagnostics }));
    expect(roots[0]).toEqual(roots[1]);
    expect(ahead.take().files().size).toBe(0);
  });

  it("asks at once for what need not follow one another", { timeout: 60_000 }, async () => {
    const below = memoryStore();
    await openProcess(below)(files);
    const { store, asked } = slowStore(below, untilQuiet());
    const publish = openProcess(store);
    await publish(edited(1));
    // Each one after the other it was 76.
    expect(asked().rounds).toBeLessThanOrEqual(50);
    await publish(edited(2));
    asked();
    await publish(edited(3));
    // The source's list, its texts, the list; HEAD; settings; the list again; blobs; the root; HEAD; its copy, and whether the source stayed.
    expect(asked().rounds).toBeLessThanOrEqual(10);
  });

  it("reads no text again that the store's list vouches for, and mends what it does not", async () => {
    const below = memoryStore();
    await openProcess(below)(files);
    const keys: string[] = [];
    for await (const { key } of below.list("sources/main/files/")) keys.push(key);
    const [damaged = ""] = keys;
    const before = await below.get(damaged);
    await below.put(damaged, new TextEncoder().encode("damaged"));
    const { store } = slowStore(below, 1);
    const read: string[] = [];
    const write = createShardWriter(
      {
        ...store,
        get(key, condition) {
          read.push(key);
          return store.get(key, condition);
        },
      },
      "main",
    );
    await write(files);
    const after = await below.get(damaged);
    expect(after.kind === "found" && before.kind === "found" && after.bytes).toEqual(
      before.kind === "found" && before.bytes,
    );
    expect(keys.length).toBeGreaterThan(32);
    expect(read.filter((key) => keys.includes(key))).toEqual([damaged, damaged]);
  });
});
