import { readFileSync } from "node:fs";
import { join } from "node:path";
import { brotliDecompressSync } from "node:zlib";
import { fromJson } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import {
  ListOfListsSchema,
  OriginListSchema,
  PartListSchema,
  RunListSchema,
  TreeListSchema,
  TypeTableSchema,
} from "../../../gen/portolan/v1/root_pb.ts";
import { blobKey } from "../../../lib/base/blob.ts";
import { createMemo } from "../../../lib/incremental/memo.ts";
import { blobsIn } from "../../../lib/snapshot/blob-groups.ts";
import type { CompiledWorld } from "../../../lib/snapshot/compiled.ts";
import { readHead } from "../../../lib/snapshot/head/head.ts";
import { runsIn } from "../../../lib/snapshot/long/long-resource.ts";
import { createPublisher } from "../../../lib/snapshot/publish.ts";
import { createSnapshotReader } from "../../../lib/snapshot/reader/snapshot-reader.ts";
import { collectGarbage } from "../../../lib/snapshot/upkeep/collect-garbage.ts";
import { fsck } from "../../../lib/snapshot/upkeep/fsck.ts";
import { repair } from "../../../lib/snapshot/upkeep/repair.ts";
import { createWorldEncoder } from "../../../lib/snapshot/worlds/encode-world.ts";
import { restoreWorld } from "../../../lib/snapshot/worlds/restore-world.ts";
import { memoryStore } from "../../../lib/storage/memory.ts";
import type { ObjectStore } from "../../../lib/storage/object-store.ts";
import { binaryResources } from "../../../lib/streams/binary-resources.ts";
import { nodeOf, pollBody, testFront } from "../../front/fixtures.ts";
import { longTable, longWorld } from "./long-worlds.ts";

const pace = { settleMs: 0, retentionMs: 0 };
const memo = createMemo();
const first = longWorld("1s", memo);
const second = longWorld("2s", memo);

async function published(store: ObjectStore, ...worlds: readonly CompiledWorld[]) {
  const publisher = createPublisher(store, { pace });
  const results = [];
  for (const world of worlds) results.push(await publisher.publish(world, await publisher.head()));
  const last = results.at(-1);
  if (last === undefined || last.kind === "lost") throw new Error("not published");
  return last;
}

/** One answer of REST. */
async function polled(store: ObjectStore, classId: string) {
  const test = testFront({ store });
  const response = await test.poll("routes", pollBody("routes", nodeOf(classId), { names: ["80"] }));
  const text = await response.text();
  expect(Number(response.headers.get("content-length"))).toBe(new TextEncoder().encode(text).length);
  const answer: { readonly version_info: string; readonly resources: readonly unknown[] } = JSON.parse(text);
  return answer;
}

async function loaded(store: ObjectStore) {
  const reader = createSnapshotReader(store);
  const { head } = (await readHead(store)) ?? {};
  const root = head?.steps.at(-1)?.root ?? "";
  return { reader, root, loadedRoot: await reader.root(root) };
}

async function runHashes(store: ObjectStore): Promise<readonly string[]> {
  const { reader, loadedRoot } = await loaded(store);
  const { segments } = await reader.tree(loadedRoot.root, "routes", 0);
  const long = segments.flatMap((segment) => segment.long ?? []);
  return (await Promise.all(long.map((one) => reader.long.runs(one)))).flat().map(({ text }) => text);
}

describe("a long resource in the store", () => {
  it("is answered with its text, version and binary form, like any other", async () => {
    const store = memoryStore();
    await published(store, first);
    const table = longTable(first, "team-3");
    const { version_info, resources } = await polled(store, "team-3");
    expect(resources).toEqual([JSON.parse(table.text)]);
    expect(version_info).toBe(table.version.slice(0, 32));

    const { reader, loadedRoot } = await loaded(store);
    const index = loadedRoot.classes.get("team-3")?.poll.routes ?? 0;
    const { segments } = await reader.tree(loadedRoot.root, "routes", index);
    const [message] = await binaryResources(
      reader,
      segments.filter((segment) => segment.first === "80").map((segment) => ({ segment, name: "80" })),
    );
    expect(message).toEqual(table.binary);
  });

  it("is told of in a delta, once it changed", async () => {
    const store = memoryStore();
    const test = testFront({ store });
    const fetched = async (known: object) => {
      const body = JSON.stringify({ node: nodeOf("team-3"), initial_resource_versions: known });
      const response = await test.request("/v3/delta:routes", { method: "POST", body });
      const delta: {
        readonly resources: readonly { readonly name: string; readonly version: string; readonly resource: unknown }[];
      } = JSON.parse(await response.text());
      return delta.resources;
    };
    await test.publish(first);
    const before = await fetched({});
    expect(before.map(({ name }) => name)).toEqual(["80", "8080"]);
    await test.publish(second);
    const after = await fetched(Object.fromEntries(before.map(({ name, version }) => [name, version])));
    expect(after).toEqual([
      {
        name: "80",
        version: longTable(second, "team-3").version.slice(0, 32),
        resource: JSON.parse(longTable(second, "team-3").text),
      },
    ]);
  });

  it("comes back as it was, and is stored alike again", async () => {
    const store = memoryStore();
    await published(store, first);
    const { reader, root } = await loaded(store);
    const { world, blobs } = await restoreWorld(reader, root);
    const said = ({ classes }: CompiledWorld) =>
      classes.map(({ poll }) => poll.routes.flat().map(({ name, version, from }) => [name, version, from]));
    expect(said(world)).toEqual(said(first));
    expect(longTable(world, "team-3").text === longTable(first, "team-3").text).toBe(true);
    const again = createWorldEncoder().encode(world);
    expect(again.rootBlob.hash).toBe(root);
    expect(new Set(blobsIn([again]).keys())).toEqual(new Set(blobsIn([blobs]).keys()));
  });

  it("shares its runs as objects with another world that has them", async () => {
    const store = memoryStore();
    await published(store, first);
    const { reader, root } = await loaded(store);
    const like = { world: second, encoded: createWorldEncoder().encode(second) };
    const { world } = await restoreWorld(reader, root, like);
    const known = new Set(runsIn(longTable(second, "team-3")));
    const runs = runsIn(longTable(world, "team-3"));
    expect(runs.filter((run) => !known.has(run))).toHaveLength(1);
  });

  it("costs a few small objects when one host changes, however many tables have it", async () => {
    const { written } = await published(memoryStore(), first, second);
    const everything = await published(memoryStore(), second);
    expect(everything.written.bytes).toBeLessThan(2 * longTable(first, "team-0").text.length * 3);
    // Two forms of the host, in a run each; what names those runs; a table, a root, an entry of the history, and HEAD.
    expect(written.objects).toBeLessThanOrEqual(20);
    expect(written.bytes).toBeLessThan(400 * 1024);
  });

  it("has parts that a missing or damaged one of is found, and written anew", async () => {
    const store = memoryStore();
    await published(store, first);
    const [hash = ""] = (await runHashes(store)).slice(3);
    for (const harm of [() => store.delete(blobKey(hash)), () => store.put(blobKey(hash), new Uint8Array([32]))]) {
      await harm();
      const { problems, broken } = await fsck(store);
      expect(broken).toEqual([hash]);
      expect(problems.join()).toContain(hash);
      const mended = await repair(store, async function* () {
        yield first;
      });
      expect(mended).toMatchObject({ mended: 1, problems: [] });
    }
  });

  it("keeps its parts when garbage is collected, as long as a root names it", async () => {
    let nowMs = Date.UTC(2026, 0, 1);
    const store = memoryStore(() => nowMs);
    await published(store, first, second);
    const options = { keepPublications: 0, graceMs: 1_000, now: () => nowMs };
    let deleted = 0;
    for (let round = 0; round < 4; round += 1) {
      nowMs += 10_000;
      deleted += (await collectGarbage(store, options)).deleted;
    }
    expect(deleted).toBeGreaterThan(0);
    expect((await fsck(store)).problems).toEqual([]);
    expect((await polled(store, "team-0")).resources).toEqual([JSON.parse(longTable(second, "team-0").text)]);
  });

  it("is written as the messages of proto/portolan/v1 say", async () => {
    const store = memoryStore();
    await published(store, first);
    const { reader, loadedRoot } = await loaded(store);
    const json = async (hash: string) => JSON.parse(await reader.text(hash));
    const table = await json(loadedRoot.root.tables.routes);
    fromJson(TypeTableSchema, table);
    fromJson(PartListSchema, await json(table.partLists[0].hash));
    fromJson(TreeListSchema, await json(table.treeLists[0].hash));
    const { segments } = await reader.tree(loadedRoot.root, "routes", 0);
    const long = segments.find((segment) => segment.long !== undefined)?.long;
    fromJson(RunListSchema, await json(long?.lists[0] ?? ""));
    const { lists } = fromJson(ListOfListsSchema, await json(long?.from[0] ?? ""));
    fromJson(OriginListSchema, await json(lists[0] ?? ""));
  });
});

/** What lies in `test/captured/roots`. */
async function oldStore(): Promise<ObjectStore> {
  const file = join(import.meta.dirname, "../../captured/roots/whole-tables.json.br");
  const objects: Readonly<Record<string, string>> = JSON.parse(brotliDecompressSync(readFileSync(file)).toString());
  const store = memoryStore();
  for (const [key, bytes] of Object.entries(objects))
    await store.put(key, new Uint8Array(Buffer.from(bytes, "latin1")));
  return store;
}

describe("a root from before long resources were cut", () => {
  it("is served, read and found whole", async () => {
    const store = await oldStore();
    expect((await fsck(store)).problems).toEqual([]);
    const test = testFront({ store });
    const node = { ...nodeOf("web-0"), id: "sidecar~10.0.0.5~web-0.team-0~team-0.svc.cluster.local" };
    const response = await test.poll("routes", pollBody("routes", node, { names: ["80"] }));
    const { resources }: { readonly resources: readonly { readonly virtualHosts: readonly unknown[] }[] } = JSON.parse(
      await response.text(),
    );
    expect(resources[0]?.virtualHosts).toHaveLength(180);
    const { reader, root } = await loaded(store);
    const { world } = await restoreWorld(reader, root);
    expect(JSON.parse(world.classes[0]?.poll.routes.flat()[0]?.text ?? "")).toEqual(resources[0]);
  });

  it("is led away from, and back to", async () => {
    const store = await oldStore();
    const { root } = await loaded(store);
    const publisher = createPublisher(store, { pace });
    expect(await publisher.publish(first, await publisher.head())).toMatchObject({ kind: "published", unread: [] });
    expect((await polled(store, "team-3")).resources).toHaveLength(1);
    const { world } = await restoreWorld(createSnapshotReader(store), root);
    expect(await publisher.publish(world, await publisher.head())).toMatchObject({ kind: "published" });
    expect((await fsck(store)).problems).toEqual([]);
  });
});
