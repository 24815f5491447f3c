import { describe, expect, it } from "vitest";
import { collectedSources } from "../../../lib/compile/shards/collect-sources.ts";
import { readShard } from "../../../lib/compile/shards/read-shard.ts";
import { createSourcesReader } from "../../../lib/compile/shards/read-sources.ts";
import { replacedObjects } from "../../../lib/compile/shards/replaced-objects.ts";
import { isCollected, isHeld } from "../../../lib/compile/shards/shard.ts";
import type { SourceShard } from "../../../lib/compile/shards/source-shard.ts";
import { createShardWriter, writeShard } from "../../../lib/compile/shards/write-shard.ts";
import { sha256 } from "../../../lib/config/canonical-json.ts";
import type { SourceFile } from "../../../lib/config/folder/directory.ts";
import { memoryStore } from "../../../lib/storage/memory.ts";
import type { ObjectStore } from "../../../lib/storage/object-store.ts";

const namespace = (name: string) => `apiVersion: v1\nkind: Namespace\nmetadata:\n  name: ${name}\n`;
const many = Array.from({ length: 1_000 }, (_, i) => ({ file: `${i}.yaml`, text: namespace(`a${i}`) }));
const inOrder = (files: readonly SourceFile[]) => [...files].sort((a, b) => (a.file < b.file ? -1 : 1));
const changed = (at: number) => many.map((file, i) => (i === at ? { ...file, text: namespace("other") } : file));

/** A store that tells what is read and written. */
function watched() {
  const store = memoryStore();
  const calls: string[] = [];
  const watching: ObjectStore = {
    ...store,
    get: (key, condition) => {
      calls.push(`get ${key}`);
      return store.get(key, condition);
    },
    put: (key, bytes, condition) => {
      calls.push(`put ${key}`);
      return store.put(key, bytes, condition);
    },
  };
  return { store: watching, calls: () => calls.splice(0) };
}

const textAt = async (store: ObjectStore, key: string): Promise<string> => {
  const found = await store.get(key);
  return found.kind === "found" ? new TextDecoder().decode(found.bytes) : "";
};
const hashesIn = async (store: ObjectStore): Promise<readonly string[]> => {
  const { runs } = JSON.parse(await textAt(store, "sources/main/list"));
  return runs;
};
const shardOf = async (read: ReturnType<typeof createSourcesReader>): Promise<Pick<SourceShard, "files" | "runs">> => {
  const [shard] = await read(["main"]);
  return shard === undefined || isCollected(shard) || isHeld(shard) ? { files: [] } : shard;
};
const filesOf = async (read: ReturnType<typeof createSourcesReader>) => (await shardOf(read)).files;

describe("a long list of files", () => {
  it("is stored in runs, and is the same in whatever order and after whatever it is written", async () => {
    const [store, other] = [memoryStore(), memoryStore()];
    const version = await writeShard(store, "main", many);
    expect(await readShard(store, "main")).toMatchObject({ name: "main", version, files: inOrder(many) });
    expect((await textAt(store, "sources/main/list")).length).toBeLessThan(2_000);
    const write = createShardWriter(other, "main");
    for (const files of [many.slice(0, 400), changed(7), many.slice(300), [...many].reverse()]) await write(files);
    expect(await textAt(other, "sources/main/list")).toBe(await textAt(store, "sources/main/list"));
    expect(await writeShard(other, "main", many)).toBe(version);
  });

  it("writes the run of a file that changed, and reads no other", async () => {
    const { store, calls } = watched();
    const [write, read] = [createShardWriter(store, "main"), createSourcesReader(store)];
    await write(many);
    const { files: filesBefore, runs: runsBefore = [] } = await shardOf(read);
    const before = new Set(filesBefore);
    calls();
    const version = await write(changed(500));
    const text = `put sources/main/files/${sha256(namespace("other"))}`;
    const puts = calls().filter((call) => call.startsWith("put "));
    expect(puts).toEqual(
      expect.arrayContaining([text, `put sources/main/versions/${version}`, "put sources/main/list"]),
    );
    expect(puts).toHaveLength(4);
    const { files, runs = [] } = await shardOf(read);
    expect(calls().filter((call) => call.includes("/files/"))).toHaveLength(2);
    expect(files).toEqual(inOrder(changed(500)));
    expect(runsBefore.filter((run) => !runs.includes(run))).toHaveLength(1);
    expect(files.filter((file) => !before.has(file))).toEqual([{ file: "500.yaml", text: namespace("other") }]);
  });

  it("moves no border but those near what comes or goes", async () => {
    const store = memoryStore();
    await writeShard(store, "main", many);
    const before = new Set(await hashesIn(store));
    await writeShard(store, "main", [...many, { file: "5000.yaml", text: namespace("new") }]);
    expect((await hashesIn(store)).filter((hash) => !before.has(hash)).length).toBeLessThan(3);
    await writeShard(store, "main", many.toSpliced(500, 1));
    expect((await hashesIn(store)).filter((hash) => !before.has(hash)).length).toBeLessThan(3);
  });

  it("that a version before has stored whole is read, and stored in runs when it is written", async () => {
    const store = memoryStore();
    const whole = JSON.stringify({
      hasParts: true,
      files: inOrder(many).map(({ file, text }) => ({ file, hash: sha256(text) })),
    });
    const version = await writeShard(store, "main", many);
    await store.put("sources/main/list", new TextEncoder().encode(whole));
    const read = createSourcesReader(store);
    const before = await filesOf(read);
    expect(before).toEqual(inOrder(many));
    expect((await readShard(store, "main"))?.version).toBe(sha256(whole));
    expect(await createShardWriter(store, "main")(many)).toBe(version);
    expect((await filesOf(read)).every((file, at) => file === before[at])).toBe(true);
  });

  it("that names a file twice is stored whole", async () => {
    const store = memoryStore();
    const twice = [...many, { file: "500.yaml", text: namespace("other") }];
    await writeShard(store, "main", twice);
    const shard = await readShard(store, "main");
    expect([shard?.files, shard?.runs]).toEqual([inOrder(twice), undefined]);
  });

  it("that lacks a run says so, and is mended by filling it again", async () => {
    const store = memoryStore();
    const version = await writeShard(store, "main", many);
    const [lost = ""] = await hashesIn(store);
    await store.delete(`sources/main/files/${lost}`);
    await expect(readShard(store, "main")).rejects.toThrow("source main lacks a part of its list; fill it again");
    expect(await writeShard(store, "main", many)).toBe(version);
    expect((await readShard(store, "main"))?.files).toHaveLength(1_000);
  });

  it("that lacks a run takes no single object, which would be all that is left of it", async () => {
    const store = memoryStore();
    await writeShard(store, "main", many);
    const before = await textAt(store, "sources/main/list");
    const [lost = ""] = await hashesIn(store);
    await store.delete(`sources/main/files/${lost}`);
    const extra = [{ file: "Namespace/extra.yaml", text: namespace("extra") }];
    await expect(writeShard(store, "main", extra, { part: "applied" })).rejects.toThrow("lacks a part of its list");
    expect(await textAt(store, "sources/main/list")).toBe(before);
  });

  it("that lacks a run keeps what was applied and lies in others, and is not written over what is lost", async () => {
    const store = memoryStore();
    const extra = [{ file: "Namespace/extra.yaml", text: namespace("extra") }];
    await writeShard(store, "main", many, { origin: "one" });
    const version = await writeShard(store, "main", extra, { part: "applied" });
    const runs = await hashesIn(store);
    await store.delete(`sources/main/files/${runs[0]}`);
    await expect(writeShard(store, "main", many, { origin: "two" })).rejects.toThrow("is filled from one");
    await writeShard(store, "main", many, { origin: "one" });
    expect((await readShard(store, "main"))?.files).toHaveLength(1_001);

    await store.delete(`sources/main/files/${(await hashesIn(store)).at(-1)}`);
    const filling = writeShard(store, "main", many, { origin: "one" });
    await expect(filling).rejects.toThrow("lacks a part of its list, and with it an object that was applied");
    await writeShard(store, "main", many, { origin: "one", takeOver: true });
    expect((await readShard(store, "main"))?.files).toHaveLength(1_000);
    expect(await writeShard(store, "main", extra, { part: "applied" })).toBe(version);
  });

  it("is read anew where it was replaced, and its runs collected, while it was read", async () => {
    const store = memoryStore();
    await writeShard(store, "main", many);
    const [collected = ""] = await hashesIn(store);
    const slow: ObjectStore = {
      ...store,
      async get(key, condition) {
        const found = await store.get(key, condition);
        if (key === "sources/main/list" && (await textAt(store, `sources/main/files/${collected}`)) !== "") {
          await writeShard(store, "main", many.slice(0, 10));
          await store.delete(`sources/main/files/${collected}`);
        }
        return found;
      },
    };
    expect((await readShard(slow, "main"))?.files).toEqual(inOrder(many.slice(0, 10)));
  });

  it("loses none of its runs and texts to who collects garbage, and all while one cannot be read", async () => {
    const store = memoryStore();
    await writeShard(store, "main", many);
    const old = await hashesIn(store);
    await writeShard(store, "main", changed(500));
    const runs = await hashesIn(store);
    const gone = old.filter((hash) => !runs.includes(hash));
    const names = [...runs, sha256(namespace("other")), ...gone].map((hash) => `sources/main/files/${hash}`);
    const kept = { roots: new Map(), blobs: new Set<string>(), oldest: 0, held: [] };
    const stays = await collectedSources.stays(kept, store);
    expect(names.filter((name) => !stays(name))).toEqual(gone.map((hash) => `sources/main/files/${hash}`));
    await store.delete(`sources/main/files/${runs[0]}`);
    const all = await collectedSources.stays(kept, store);
    expect(names.filter((name) => !all(name))).toEqual([]);
  });

  it("tells which objects are replaced", async () => {
    const store = memoryStore();
    await writeShard(store, "main", many);
    const origins = await replacedObjects(store, "main", changed(500));
    expect(origins.map(({ key }) => key.name)).toEqual(["a500"]);
  });
});
