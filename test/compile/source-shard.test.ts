import { describe, expect, it } from "vitest";
import { readShard, writeShard } from "../../lib/compile/source-shard.ts";
import { memoryStore } from "../../lib/storage/memory.ts";

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

  it("keeps what it has when a secret is among the files, and says where", async () => {
    const store = memoryStore();
    await writeShard(store, "main", files);
    const secret = {
      file: "c.yaml",
      text: "apiVersion: v1\nkind: Secret\nmetadata: {name: a}\nstringData: {a: s3cret}",
    };
    await expect(writeShard(store, "main", [...files, secret])).rejects.toMatchObject({
      diagnostics: [{ code: "secret-in-source", origin: { file: "c.yaml", line: 1 } }],
    });
    expect((await readShard(store, "main"))?.files).toHaveLength(2);
    for await (const { key } of store.list("")) {
      const found = await store.get(key);
      expect(found.kind === "found" && new TextDecoder().decode(found.bytes)).not.toContain("s3cret");
    }
  });

  it.each([
    ["a key in JSON in JSON", JSON.stringify({ a: JSON.stringify({ kty: "oct", k: "s3cret" }) })],
    ["a document that cannot be searched", "kind: EnvoyFilter\nprivate_key: {inline_string: s3cret}\nx: ["],
    ["a comment", "# kind: Secret\n# stringData: {a: s3cret}\nkind: A\n"],
  ])("stores nothing of %s", async (_what, text) => {
    const store = memoryStore();
    await expect(writeShard(store, "main", [...files, { file: "c.yaml", text }])).rejects.toThrow("there are secrets");
    for await (const { key } of store.list("")) expect.unreachable(key);
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

  it("says which file's content is missing", async () => {
    const store = memoryStore();
    await writeShard(store, "main", files);
    for await (const { key } of store.list("sources/main/files/")) await store.delete(key);
    await expect(readShard(store, "main")).rejects.toThrow("lacks the content of");
  });
});
