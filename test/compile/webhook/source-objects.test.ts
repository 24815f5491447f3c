import { beforeEach, describe, expect, it } from "vitest";
import { createShardWriter } from "../../../lib/collect/write-collected.ts";
import { createCollectedReader } from "../../../lib/compile/collected/collected-shard.ts";
import { headText } from "../../../lib/compile/collected/shard-head.ts";
import { createRecompiler } from "../../../lib/compile/recompile.ts";
import { writeShard } from "../../../lib/compile/shards/write-shard.ts";
import { webhookApp } from "../../../lib/compile/webhook/app.ts";
import { objectSigner } from "../../../lib/compile/webhook/object-signature.ts";
import { noSecrets } from "../../../lib/compile/webhook/webhook-secrets.ts";
import { sha256 } from "../../../lib/config/canonical-json.ts";
import { encodeNode, type TreeNode } from "../../../lib/config-store/ledger/merkle-tree.ts";
import { limits } from "../../../lib/limits/limits.ts";
import { packed } from "../../../lib/registry/origin/packed-object.ts";
import { httpStore } from "../../../lib/storage/http.ts";
import { memoryStore } from "../../../lib/storage/memory.ts";
import type { ObjectStore } from "../../../lib/storage/object-store.ts";
import { bare, filesOf } from "../pods/manifests.ts";

const bytes = (text: string) => new TextEncoder().encode(text);
const absent = "0".repeat(64);
const files = filesOf([bare("web-0", {}, { app: "web" })]);

/** The store of a compile function as whoever holds the secret of source b alone has it. */
function place() {
  const store = memoryStore();
  const secrets = { ...noSecrets, operators: ["all"], sources: new Map([["b", ["of b"]]]) };
  const recompile = createRecompiler({ store });
  const app = webhookApp({ store, recompile, secrets, sources: ["main", "b"] });
  const tenant = httpStore({
    url: "https://compile.example/objects",
    authorize: objectSigner("of b", "compile.example"),
    fetch: (request) => app.fetch(request),
  });
  return { store, recompile, tenant };
}

let { store, recompile, tenant } = place();
beforeEach(() => {
  ({ store, recompile, tenant } = place());
});

/** Writes nodes and the head that leads to the last of them. */
async function putTree(to: ObjectStore, nodes: readonly TreeNode[]): Promise<unknown> {
  const hashes = nodes.map((node) => sha256(encodeNode(node)));
  for (const [i, node] of nodes.entries()) await to.put(`sources/b/nodes/${hashes[i]}`, bytes(encodeNode(node)));
  return to.put(
    "sources/b/head",
    bytes(headText({ about: { kind: "mcp" }, root: hashes.at(-1) ?? "", isMeantEmpty: false })),
  );
}

describe("writes to a source under /objects", () => {
  it.each([
    ["list", "garbage", "is no list of files"],
    ["list", JSON.stringify({ files: [{ file: "x.yaml", hash: absent }] }), "lacks the content of x.yaml"],
    ["list", JSON.stringify({ hasParts: true, runs: [absent], applied: 0 }), "lacks a part of its list"],
    ["head", "{}", "nothing that a collector has written"],
    [
      "head",
      headText({ about: { kind: "mcp" }, root: absent, isMeantEmpty: false }),
      "lacks some of its collected objects",
    ],
    ["state", "{}", "not a collector's sign of life"],
    ["state", JSON.stringify({ asOfMs: 1, failure: "f".repeat(20_000) }), "not a collector's sign of life"],
    [`files/${absent}`, "text", "does not have the hash"],
    [`nodes/${absent}`, "text", "does not have the hash"],
    [`versions/${absent}`, "text", "does not have the hash"],
    [`nodes/${sha256("5")}`, "5", "not a node"],
  ])("are refused where the source could not be read after them: %s", async (part, text, reason) => {
    await writeShard(store, "b", files);
    const told = await tenant.put(`sources/b/${part}`, bytes(text)).catch((cause: unknown) => cause);
    expect(String(told)).toContain("422");
    expect(String(told)).toContain(reason);
    const found = await store.get(`sources/b/${part}`);
    if (part !== "list") expect(found.kind).toBe("absent");
    await expect(recompile()).resolves.toMatchObject({ kind: "published" });
  });

  it("are refused for a source that is not compiled, with the setting that lists those that are", async () => {
    await expect(tenant.put("sources/elsewhere/list", bytes("[]"))).rejects.toThrow(
      "add its source to the sources of the compile function (SOURCES of a Worker, PORTOLAN_SOURCES elsewhere)",
    );
  });

  it.each(["list", "head", `files/${absent}`, `nodes/${absent}`, `versions/${absent}`])(
    "take nothing away that a compile reads: %s",
    async (part) => {
      await store.put(`sources/b/${part}`, bytes("kept"));
      await expect(tenant.delete(`sources/b/${part}`)).rejects.toThrow("403");
      expect((await store.get(`sources/b/${part}`)).kind).toBe("found");
    },
  );

  it.each([
    "list/x",
    "head/x",
    "state/x",
    "kept/x",
    "junk/1",
    "files",
    "wanted",
    "HEAD",
    `nodes/${absent}/x`,
    `versions/${absent.toUpperCase().replace("0", "A")}`,
    "files/x",
    "ledger",
    "ledger/head/x",
    "ledger/blobs/x",
    `ledger/other/${absent}`,
  ])("are refused where nobody reads them: %s", async (part) => {
    await expect(tenant.put(`sources/b/${part}`, bytes("hello"))).rejects.toThrow("422");
    expect((await store.get(`sources/b/${part}`)).kind).toBe("absent");
  });

  it.each(["blobs", "nodes", "commits"])("put no other text under a hash of the ledger: %s", async (kind) => {
    await expect(tenant.put(`sources/b/ledger/${kind}/${absent}`, bytes("hello"))).rejects.toThrow("422");
    expect((await tenant.put(`sources/b/ledger/${kind}/${sha256("hello")}`, bytes("hello"))).kind).toBe("stored");
  });

  it("let a source be filled, as the command line does, again and again", async () => {
    await writeShard(tenant, "b", files);
    await writeShard(tenant, "b", filesOf([bare("web-1", {}, { app: "web" })]));
    const many = Array.from({ length: 300 }, (_, i) => bare(`web-${i}`, {}, { app: "web" }));
    await writeShard(
      tenant,
      "b",
      many.map((object, i) => ({ file: `${i}.yaml`, text: JSON.stringify(object) })),
    );
    const more = [...many, bare("last", {}, { app: "web" })];
    await writeShard(
      tenant,
      "b",
      more.map((object, i) => ({ file: `${i}.yaml`, text: JSON.stringify(object) })),
    );
    await expect(recompile()).resolves.toMatchObject({ kind: "published", diagnostics: [] });
  });

  it("let a collector fill it, and read no more of it than what differs and stands next to it", async () => {
    const entriesOf = (count: number) =>
      new Map(
        Array.from({ length: count }, (_, i) => {
          const { key, entry } = packed({ key: `Pod/default/p${i}`, version: "1", object: { ...bare(`p${i}`) } });
          return [key, entry] as const;
        }),
      );
    const options = { source: "b", about: { kind: "kubernetes", cluster: "c" }, identity: () => undefined } as const;
    const writer = createShardWriter(tenant, options);
    const first = entriesOf(2_000);
    await writer.load(first);
    await writer.write(first, false);
    const reads: string[] = [];
    const { get } = store;
    store.get = async (key, condition) => {
      if (key.includes("/nodes/")) reads.push(key);
      return get(key, condition);
    };
    await writer.write(new Map([["Pod/default/p0", undefined]]), false);
    store.get = get;
    expect(reads.length).toBeGreaterThan(0);
    expect(reads.length).toBeLessThan(200);
    expect((await createCollectedReader(store, "b")())?.objects.size).toBe(1_999);
  });

  it("refuse a tree in which a few nodes stand for millions of objects", async () => {
    const leaf: TreeNode = { kind: "leaf", entries: [["k", "1 {}"]] };
    const nodes: TreeNode[] = [leaf];
    for (let size = 16; size <= 16 ** 5; size *= 16) {
      const below = sha256(encodeNode(nodes.at(-1) ?? leaf));
      nodes.push({ kind: "branch", size, children: Array.from({ length: 16 }, () => below) });
    }
    expect(16 ** 5).toBeGreaterThan(limits.sourceObjects);
    await expect(putTree(tenant, nodes)).rejects.toThrow("422");
    const liar: TreeNode = {
      kind: "branch",
      size: 17,
      children: Array.from({ length: 16 }, () => sha256(encodeNode(leaf))),
    };
    await expect(putTree(tenant, [leaf, liar])).rejects.toThrow("422");
    const empty: TreeNode = { kind: "leaf", entries: [] };
    const hollow: TreeNode = {
      kind: "branch",
      size: 0,
      children: Array.from({ length: 16 }, () => sha256(encodeNode(empty))),
    };
    await expect(putTree(tenant, [empty, hollow])).rejects.toThrow("422");
  });

  it("refuse an entry that is no object", async () => {
    await expect(putTree(tenant, [{ kind: "leaf", entries: [["k", "1 5"]] }])).rejects.toThrow("422");
  });

  it("refuse names that are longer than names may be", async () => {
    const [file] = files;
    const hash = sha256(file?.text ?? "");
    await tenant.put(`sources/b/files/${hash}`, bytes(file?.text ?? ""));
    const list = (name: string) => bytes(JSON.stringify({ hasParts: true, files: [{ file: name, hash }] }));
    await expect(tenant.put("sources/b/list", list("n".repeat(limits.nameBytes + 1)))).rejects.toThrow("422");
    expect((await tenant.put("sources/b/list", list("n.yaml"))).kind).toBe("stored");
  });
});
