import { fromJson, type JsonValue } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { ClassifierSchema } from "../../gen/portolan/v1/classifier_pb.ts";
import { HeadSchema, PublicationSchema } from "../../gen/portolan/v1/head_pb.ts";
import {
  ClassTableSchema,
  NodeShardListSchema,
  NodeShardSchema,
  RootSchema,
  SegmentHeaderSchema,
  TypeTableSchema,
} from "../../gen/portolan/v1/root_pb.ts";
import { blobKey, hashOf, headKey } from "../../lib/base/blob.ts";
import type { CompiledWorld } from "../../lib/snapshot/compiled.ts";
import { readHead, rootAt } from "../../lib/snapshot/head/head.ts";
import { createPublisher, type Publisher } from "../../lib/snapshot/publish.ts";
import { createSnapshotReader } from "../../lib/snapshot/reader/snapshot-reader.ts";
import { restoreWorld } from "../../lib/snapshot/worlds/restore-world.ts";
import { memoryStore } from "../../lib/storage/memory.ts";
import type { ObjectStore } from "../../lib/storage/object-store.ts";
import { contentsOf, manyNamed, worldOf } from "./worlds.ts";

const pace = { settleMs: 1_000, retentionMs: 4_000 };

function publisherAt(store: ObjectStore): { readonly publisher: Publisher; tick(ms: number): void; now(): number } {
  let nowMs = Date.UTC(2026, 0, 1);
  const publisher = createPublisher(store, { pace, now: () => nowMs });
  return {
    publisher,
    tick: (ms) => {
      nowMs += ms;
    },
    now: () => nowMs,
  };
}

async function publish(publisher: Publisher, world: CompiledWorld) {
  return publisher.publish(world, await publisher.head());
}

async function servedAt(store: ObjectStore, nowMs: number): Promise<CompiledWorld> {
  const read = await readHead(store);
  if (read === undefined) throw new Error("no HEAD");
  return (await restoreWorld(createSnapshotReader(store), rootAt(read.head, nowMs))).world;
}

async function blobs(store: ObjectStore): Promise<ReadonlyMap<string, Uint8Array>> {
  const found = new Map<string, Uint8Array>();
  for await (const { key } of store.list("blobs/")) {
    const result = await store.get(key);
    if (result.kind === "found") found.set(key, result.bytes);
  }
  return found;
}

const big = (content: string) =>
  Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`c${i}`, i === 250 ? content : "x".repeat(800)]));

describe("a world that is not whole", () => {
  it("is refused, with what was left out of it and whose fault that is", async () => {
    const world = worldOf({ a: {} });
    const [made] = world.classes;
    const text = '{"name":"l","rds":{"routeConfigName":"http.80"}}';
    const listeners = [[{ name: "l", text, version: hashOf(text), from: [] }]];
    const lists = { clusters: [], endpoints: [], routes: [], ...made?.poll, listeners };
    const refused = {
      code: "resource-refused",
      severity: "error",
      origin: { key: { group: "g", kind: "HTTPRoute", namespace: "evil", name: "r" }, file: "r.yaml", line: 3 },
      path: [],
      message: "routes http.80 was left out",
      hint: "",
    } as const;
    const half = { ...world, classes: [{ id: "a", poll: lists, stream: lists }], diagnostics: [refused] };
    await expect(publish(publisherAt(memoryStore()).publisher, half)).rejects.toMatchObject({
      message: expect.stringContaining("http.80, which do not exist"),
      diagnostics: [refused],
    });
  });
});

describe("publish", () => {
  it("stores a world that reads back equal", async () => {
    const store = memoryStore();
    const { publisher, now } = publisherAt(store);
    const world = worldOf({ a: { clusters: { x: "1" }, routes: { "80": "x" } }, b: { clusters: { x: "1", y: "2" } } });
    const result = await publish(publisher, world);
    expect(result.kind).toBe("published");
    expect(await servedAt(store, now())).toEqual(world);
  });

  it("names every blob by the hash of its bytes", async () => {
    const store = memoryStore();
    await publish(publisherAt(store).publisher, worldOf({ a: { clusters: big("1") } }));
    for (const [key, bytes] of await blobs(store)) expect(key).toBe(blobKey(hashOf(bytes)));
  });

  it("gives the same root for the same world, and moves nothing when nothing changed", async () => {
    const store = memoryStore();
    const world = () => worldOf({ a: { clusters: { x: "1" } } });
    const first = await publish(publisherAt(store).publisher, world());
    const before = await readHead(store);
    const second = await publish(publisherAt(store).publisher, world());
    expect(second).toMatchObject({ kind: "unchanged", root: first.kind === "published" ? first.root : "" });
    expect(await readHead(store)).toEqual(before);
  });

  it("writes one segment, its list and its part's, the type's table, a root, a publication and HEAD for one changed resource that classes share", async () => {
    const store = memoryStore();
    const { publisher } = publisherAt(store);
    const shared = (content: string) => {
      const one = worldOf({ a: { clusters: big(content) } });
      const [first] = one.classes;
      if (first === undefined) throw new Error("no class");
      return { ...one, classes: ["a", "b", "c"].map((id) => ({ ...first, id })) };
    };
    await publish(publisher, shared("1"));
    const result = await publish(publisher, shared("2"));
    expect(result).toMatchObject({ kind: "published", written: { objects: 7 } });
    expect(result.kind === "published" && result.written.bytes).toBeLessThan(200_000);
  });

  it("costs a publisher without memory no more writes than one that remembers", async () => {
    const store = memoryStore();
    await publish(publisherAt(store).publisher, worldOf({ a: { clusters: big("1") } }));
    const result = await publish(publisherAt(store).publisher, worldOf({ a: { clusters: big("2") } }));
    expect(result).toMatchObject({ kind: "published", written: { objects: 7 } });
  });

  it("lets one of two publishers win who started from the same HEAD", async () => {
    const store = memoryStore();
    const a = publisherAt(store).publisher;
    const b = publisherAt(store).publisher;
    await publish(a, worldOf({ a: {} }));
    const base = await b.head();
    const results = await Promise.all([
      a.publish(worldOf({ a: { clusters: { x: "a" } } }), base),
      b.publish(worldOf({ a: { clusters: { x: "b" } } }), base),
    ]);
    expect(results.map(({ kind }) => kind).sort()).toEqual(["lost", "published"]);
    expect((await readHead(store))?.head.generation).toBe(2);
  });

  it("serves new clusters first and drops old ones last, also when every step is planned by another process", async () => {
    const store = memoryStore();
    const clock = publisherAt(store);
    await publish(clock.publisher, worldOf({ a: { clusters: { x: "1" }, routes: { "80": "x" } } }));
    clock.tick(60_000);
    await publish(clock.publisher, worldOf({ a: { clusters: { y: "1" }, routes: { "80": "y" } } }));
    const at = async (ms: number) => {
      const world = await servedAt(store, clock.now() + ms);
      return [Object.keys(contentsOf(world, "a", "clusters")).join(), contentsOf(world, "a", "routes")["80"]];
    };
    expect(await at(0)).toEqual(["x,y", "x"]);
    expect(await at(1_000)).toEqual(["x,y", "y"]);
    expect(await at(6_000)).toEqual(["y", "y"]);
  });

  it("keeps the history as a chain", async () => {
    const store = memoryStore();
    const { publisher } = publisherAt(store);
    for (const content of ["1", "2", "3"]) await publish(publisher, worldOf({ a: { clusters: { x: content } } }));
    const reader = createSnapshotReader(store);
    const generations: number[] = [];
    let hash = (await readHead(store))?.head.publication ?? "";
    while (hash !== "") {
      const publication: { generation: number; parent: string } = JSON.parse(await reader.text(hash));
      generations.push(publication.generation);
      hash = publication.parent;
    }
    expect(generations).toEqual([3, 2, 1]);
  });

  it("writes what the messages of proto/portolan/v1 say, field for field", async () => {
    const store = memoryStore();
    const { publisher } = publisherAt(store);
    const nodes = [manyNamed("a")];
    await publish(publisher, worldOf({ a: { clusters: { x: "1" }, routes: { "80": "x" } } }, { nodes }));
    const reader = createSnapshotReader(store);
    const read = await store.get(headKey);
    const headText = read.kind === "found" ? new TextDecoder().decode(read.bytes) : "";
    const { head } = (await readHead(store)) ?? {};
    if (head === undefined) throw new Error("no HEAD");
    const { root } = await reader.root(rootAt(head, Date.UTC(2027, 0, 1)));
    const segment = (await reader.tree(root, "clusters", 0)).segments[0];
    if (segment === undefined) throw new Error("no segment");
    const headerText = (await reader.text(segment.hash)).split("\n")[0] ?? "";
    const json = async (hash: string): Promise<JsonValue> => JSON.parse(await reader.text(hash));
    // fromJson refuses a field that the message lacks.
    fromJson(HeadSchema, JSON.parse(headText));
    fromJson(PublicationSchema, await json(head.publication));
    fromJson(RootSchema, await json(rootAt(head, 0)));
    fromJson(ClassTableSchema, await json(root.classes));
    fromJson(ClassifierSchema, await json(root.classifier));
    fromJson(NodeShardListSchema, await json(root.nodeList ?? ""));
    fromJson(NodeShardSchema, await json(root.nodes[0]?.hash ?? ""));
    fromJson(TypeTableSchema, await json(root.tables.clusters));
    fromJson(SegmentHeaderSchema, JSON.parse(headerText));
  });
});
