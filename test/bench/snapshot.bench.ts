/**
 * Snapshots of the synthetic mesh with 1,000 services and a proxy for each of its pods: what one changed VirtualService
 * writes beside a full rewrite, over each store; what 200 classes cost that share; the difference between two big roots.
 */
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { hashOf } from "../../lib/base/blob.ts";
import { byCodePoint } from "../../lib/base/diagnostic.ts";
import { createFileCompiler } from "../../lib/compile/compile-files.ts";
import { defaultWorldOptions } from "../../lib/compile/world/world-of.ts";
import { type CompiledResource, type CompiledWorld, resourcesIn } from "../../lib/snapshot/compiled.ts";
import { createPublisher } from "../../lib/snapshot/publish.ts";
import { createSnapshotReader } from "../../lib/snapshot/reader/snapshot-reader.ts";
import { diffWorlds } from "../../lib/snapshot/worlds/diff-worlds.ts";
import { restoreWorld } from "../../lib/snapshot/worlds/restore-world.ts";
import { fileStore } from "../../lib/storage/files/files.ts";
import { memoryStore } from "../../lib/storage/memory.ts";
import type { ObjectStore } from "../../lib/storage/object-store.ts";
import { s3Store } from "../../lib/storage/s3.ts";
import { nodeOfNamed } from "../named-proxy.ts";
import { startS3 } from "../storage/s3-server.ts";
import type { BenchOptions, Report, Row } from "./report.ts";
import { syntheticMesh } from "./synthetic-mesh.ts";
import { type Elapsed, measure, roundsOf, stopwatch, timingOf, timingRow } from "./yardstick.ts";

interface Published {
  readonly elapsed: Elapsed;
  readonly objects: number;
  readonly bytes: number;
  readonly root: string;
}

/** Publishes one world after another. */
async function publishAll(store: ObjectStore, worlds: readonly CompiledWorld[]): Promise<readonly Published[]> {
  const publisher = createPublisher(store);
  const results: Published[] = [];
  for (const world of worlds) {
    const base = await publisher.head();
    const elapsed = stopwatch();
    const result = await publisher.publish(world, base);
    if (result.kind !== "published") throw new Error(`a publish that was ${result.kind}`);
    results.push({ elapsed: elapsed(), root: result.root, ...result.written });
  }
  return results;
}

const kib = (bytes: number): number => Math.round(bytes / 1024);

/** The mesh compiled, then with one VirtualService changed, twice: the first change also fills what the second keeps. */
function compileChanges({ report, yard, quick }: BenchOptions): readonly CompiledWorld[] {
  const { text, named } = syntheticMesh(quick ? 100 : 1000);
  const compileFiles = createFileCompiler({ ...defaultWorldOptions, nodes: named.map(nodeOfNamed) });
  const edited = (weight: number) => text.replace(/"weight":\s*90/, `"weight":${weight}`);
  const rows: Row[] = [];
  const worlds = [90, 80, 70].map((weight) => {
    const elapsed = stopwatch();
    const files = [{ file: "input.yaml", text: edited(weight) }];
    const { value } = compileFiles(files, [{ name: "bench", version: String(weight) }]);
    const what =
      weight === 90 ? `compile all of it, ${value.classes.length} classes` : "compile, one VirtualService changed";
    rows.push(timingRow(what, timingOf([elapsed()]), yard));
    return value;
  });
  report.table("From text to a world ready to publish", rows);
  return worlds;
}

const versitygw = new URL("../../.cache/bin/versitygw", import.meta.url);
const moto = new URL("../../.venv/bin/moto_server", import.meta.url);

/** The stores of this machine; S3 only where `npm run setup:e2e` fetched a server. */
async function withStores(run: (name: string, store: ObjectStore) => Promise<void>, report: Report): Promise<void> {
  await run("memory", memoryStore());
  const folder = mkdtempSync(join(tmpdir(), "portolan-bench-"));
  try {
    await run("files, fsync", fileStore(folder));
  } finally {
    rmSync(folder, { recursive: true });
  }
  if (!existsSync(versitygw) && !existsSync(moto)) {
    report.line("S3: no server here; `npm run setup:e2e` fetches one");
    return;
  }
  const s3 = await startS3();
  try {
    await run("S3", s3Store({ client: s3.client, bucket: s3.bucket }));
  } finally {
    await s3.close();
  }
}

async function publishTable(worlds: readonly CompiledWorld[], { report, yard }: BenchOptions): Promise<void> {
  const rows: Row[] = [];
  await withStores(async (name, store) => {
    const [full, ...changes] = await publishAll(store, worlds);
    const change = changes.at(-1);
    if (full === undefined || change === undefined) return;
    for (const [what, { elapsed, objects, bytes }] of [
      ["everything", full],
      ["one VirtualService changed", change],
    ] as const) {
      rows.push({ ...timingRow(`${name}: ${what}`, timingOf([elapsed]), yard), objects, KiB: kib(bytes) });
    }
  }, report);
  report.table("Publish", rows);
}

/** One class of the mesh 200 times over, each with one cluster of its own. */
async function sharedTable(world: CompiledWorld, { report, yard }: BenchOptions): Promise<void> {
  const [one] = world.classes;
  if (one === undefined) return;
  const classes = Array.from({ length: 200 }, (_, at) => {
    const own = resourceOf(`inbound|${at}||`, "own");
    const clusters = [[...resourcesIn(one.poll.clusters), own].sort((a, b) => byCodePoint(a.name, b.name))];
    const shape = { ...one.poll, clusters };
    return { id: `class-${String(at).padStart(3, "0")}`, stream: shape, poll: shape };
  });
  const nobody = { attributes: [], labels: {}, classes: {}, defaults: {} };
  const fleet = { ...world, classes, classifier: nobody, nodes: [] };
  const [shared] = await publishAll(memoryStore(), [fleet]);
  const [alone] = await publishAll(memoryStore(), [{ ...fleet, classes: classes.slice(0, 1) }]);
  if (shared === undefined || alone === undefined) return;
  report.table("200 classes with one cluster of their own each, all else shared", [
    { ...timingRow("stored, sharing", timingOf([shared.elapsed]), yard), KiB: kib(shared.bytes) },
    { "": "stored as 200 separate copies", KiB: kib(alone.bytes * 200) },
  ]);
}

function resourceOf(name: string, content: string): CompiledResource {
  const text = JSON.stringify({ "@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster", name, content });
  return { name, text, version: hashOf(text), from: [] };
}

/** A world of one class with so many clusters, the middle one with this content. */
function bigWorld(size: number, middle: string): CompiledWorld {
  const clusters = Array.from({ length: size }, (_, at) =>
    resourceOf(`cluster-${String(at).padStart(6, "0")}`, at === size / 2 ? middle : "same"),
  );
  const shape = { clusters: [clusters], endpoints: [], listeners: [], routes: [] };
  return {
    classes: [{ id: "all", stream: shape, poll: shape }],
    classifier: { attributes: [], labels: {}, classes: {}, defaults: {} },
    nodes: [],
    diagnostics: [],
    sources: [{ name: "bench", version: middle }],
    compiler: "bench",
  };
}

async function diffTable({ report, yard, quick }: BenchOptions): Promise<void> {
  const size = 10_000;
  const store = memoryStore();
  const roots = await publishAll(store, [bigWorld(size, "before"), bigWorld(size, "after")]);
  const [before, after] = await Promise.all(
    roots.map(async ({ root }) => (await restoreWorld(createSnapshotReader(store), root)).world),
  );
  if (before === undefined || after === undefined) return;
  const elapsed = stopwatch();
  for (const { root } of roots) await restoreWorld(createSnapshotReader(store), root);
  const reading = elapsed();
  let found = 0;
  const timing = measure(
    (_, start) => {
      const elapsed = start();
      found = diffWorlds(before, after).resources.length;
      return elapsed();
    },
    roundsOf(quick, { measured: 9 }),
  );
  report.table(`Two roots with ${size} resources each`, [
    timingRow("read both from the store, nothing cached", timingOf([reading]), yard),
    timingRow(`find what differs (${found} resource)`, timing, yard),
  ]);
}

export async function snapshotBench(options: BenchOptions): Promise<void> {
  const worlds = compileChanges(options);
  await publishTable(worlds, options);
  const [first] = worlds;
  if (first !== undefined) await sharedTable(first, options);
  await diffTable(options);
}
