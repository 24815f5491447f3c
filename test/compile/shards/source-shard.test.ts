import { describe, expect, it } from "vitest";
import { readShard } from "../../../lib/compile/shards/read-shard.ts";
import { createSourcesReader } from "../../../lib/compile/shards/read-sources.ts";
import { createShardWriter, writeShard } from "../../../lib/compile/shards/write-shard.ts";
import { sha256 } from "../../../lib/config/canonical-json.ts";
import { memoryStore } from "../../../lib/storage/memory.ts";
import type { ObjectStore } from "../../../lib/storage/object-store.ts";

const files = [
  { file: "b/ä.yaml", text: "kind: B" },
  { file: "a.yaml", text: "kind: A" },
];

describe("a source shard", () => {
  it("reads back sorted, with a version that only its files decide", async () => {
    const store = memoryStore();
    const version = await writeShard(store, "team/one", files);
    expect(await readShard(store, "team/one")).toEqual({ name: "team/one", version, files: [files[1], files[0]] });
    expect(await writeShard(store, "team/one", [...files].reverse())).toBe(version);
    expect(await writeShard(store, "team/one", files.slice(0, 1))).not.toBe(version);
  });

  it.each([
    ["a Secret", "apiVersion: v1\nkind: Secret\nmetadata: {name: a}\nstringData: {a: s3cret}"],
    ["a key in JSON in JSON", JSON.stringify({ a: JSON.stringify({ kty: "oct", k: "s3cret" }) })],
    ["a document that cannot be searched", "kind: EnvoyFilter\nprivate_key: {inline_string: s3cret}\nx: ["],
    ["a comment", "# kind: Secret\n# stringData: {a: s3cret}\nkind: A\n"],
  ])("stores no secret of %s, and all that stands beside it", async (_what, text) => {
    const store = memoryStore();
    await writeShard(store, "main", [...files, { file: "c.yaml", text }]);
    const written = (await readShard(store, "main"))?.files ?? [];
    expect(written).toEqual(expect.arrayContaining([...files]));
    expect(written).toHaveLength(3);
    for await (const { key } of store.list("")) {
      const found = await store.get(key);
      expect(found.kind === "found" && new TextDecoder().decode(found.bytes)).not.toContain("s3cret");
    }
  });

  it("is undefined before it was filled", async () => {
    expect(await readShard(memoryStore(), "main")).toBeUndefined();
  });

  it.each(["", "{}", '{"files":1}', '{"files":[{"file":"a"}]}', '{"files":[{"file":"a","hash":"../x"}]}'])(
    "says so when %j lies in its place",
    async (text) => {
      const store = memoryStore();
      await store.put("sources/main/list", new TextEncoder().encode(text));
      await expect(readShard(store, "main")).rejects.toThrow("source main is no list of files");
    },
  );

  it("reads back files that begin with a mark of the byte order", async () => {
    const store = memoryStore();
    const marked = [{ file: "a.yaml", text: "\uFEFFkind: A" }];
    await writeShard(store, "main", marked);
    expect((await readShard(store, "main"))?.files).toEqual(marked);
  });

  it("says which file's content is missing", async () => {
    const store = memoryStore();
    await writeShard(store, "main", files);
    const [stays] = (await readShard(store, "main"))?.files ?? [];
    for await (const { key } of store.list("sources/main/files/")) {
      if (key !== `sources/main/files/${sha256(stays?.text ?? "")}`) await store.delete(key);
    }
    await expect(readShard(store, "main")).rejects.toThrow("lacks the content of");
  });
});

describe("a writer that goes on", () => {
  const namespace = (name: string) => `apiVersion: v1\nkind: Namespace\nmetadata:\n  name: ${name}\n`;
  const many = Array.from({ length: 20 }, (_, i) => ({ file: `${i}.yaml`, text: namespace(`a${i}`) }));
  const changed = (round: number) =>
    many.map((file, i) => (i === 3 ? { ...file, text: namespace(`b${round}`) } : file));

  /** A store that counts what is read and written. */
  const counted = () => {
    const store = memoryStore();
    const asked: string[] = [];
    const watched: ObjectStore = {
      ...store,
      get: (key, condition) => {
        asked.push(key);
        return store.get(key, condition);
      },
      put: (key, bytes, condition) => {
        asked.push(key);
        return store.put(key, bytes, condition);
      },
    };
    return { store: watched, texts: () => asked.splice(0).filter((key) => key.includes("/files/")) };
  };

  it("touches the texts that changed, and those of files that may be half saved", async () => {
    const { store, texts } = counted();
    const write = createShardWriter(store, "main");
    await write(many, { halfSaves: true });
    expect(texts()).toHaveLength(20);
    await write(changed(1), { halfSaves: true });
    // The one that is now: the one before is at hand.
    expect(texts()).toHaveLength(1);
    expect((await readShard(store, "main"))?.files).toEqual([...changed(1)].sort((a, b) => (a.file < b.file ? -1 : 1)));
  });

  it("leaves the texts to whoever reads the source in the same process, as they lie in the store", async () => {
    const { store, texts } = counted();
    const written = new Map<string, string>();
    await createShardWriter(store, "main", written)([...many, { file: "odd.yaml", text: "# \ud800" }]);
    texts();
    const shards = await createSourcesReader(store, written)(["main"]);
    expect(texts()).toEqual([]);
    expect(shards).toEqual([await readShard(store, "main")]);
  });

  it("holds no more than three times the texts that are named, whatever is written", async () => {
    const written = new Map<string, string>();
    const write = createShardWriter(memoryStore(), "main", written);
    for (let round = 0; round < 20; round += 1) {
      await write(many.map(({ file }) => ({ file, text: namespace(`${file}-${round}`) })));
      expect(written.size).toBeLessThanOrEqual(3 * many.length);
    }
  });

  it("takes nothing for granted that another process has seen, nor for ever what itself has", async () => {
    const { store, texts } = counted();
    const write = createShardWriter(store, "main");
    await write(many);
    const [lost = ""] = texts();
    await store.delete(lost);
    await createShardWriter(store, "main")(many);
    expect(texts()).toContain(lost);
    await store.delete(lost);
    for (let round = 0; round < 60; round += 1) await write(changed(round));
    expect((await readShard(store, "main"))?.files).toHaveLength(20);
  });

  it("writes texts anew that the list came to name no more", async () => {
    const { store } = counted();
    const write = createShardWriter(store, "main");
    await write(many);
    await writeShard(store, "main", many.slice(0, 1));
    const [stays] = (await readShard(store, "main"))?.files ?? [];
    for await (const { key } of store.list("sources/main/files/")) {
      if (key !== `sources/main/files/${sha256(stays?.text ?? "")}`) await store.delete(key);
    }
    await write(many);
    expect((await readShard(store, "main"))?.files).toHaveLength(20);
  });
});
