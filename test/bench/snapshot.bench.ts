/**
 * Snapshots of the synthetic mesh with 1,000 services: what one changed VirtualService writes beside a full rewrite, how long
 * compiling and publishing take, what 200 classes cost that share, and what one mesh edit costs from file to HEAD.
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createFileCompiler } from "../../lib/compile/compile-files.ts";
import { defaultWorldOptions } from "../../lib/compile/world-of.ts";
import { byCodePoint } from "../../lib/config/diagnostic.ts";
import type { NamedProxy } from "../../lib/mesh/proxy-from-node.ts";
import type { CompiledWorld } from "../../lib/snapshot/compiled.ts";
import { createPublisher } from "../../lib/snapshot/publish.ts";
import { fileStore } from "../../lib/storage/files.ts";
import { memoryStore } from "../../lib/storage/memory.ts";
import type { ObjectStore } from "../../lib/storage/object-store.ts";
import { s3Store } from "../../lib/storage/s3.ts";
import { startS3 } from "../storage/s3-server.ts";
import { withRatio, yardstick } from "./yardstick.ts";

const generator = new URL("../../../shared/bench/mesh-gen.mjs", import.meta.url);

function syntheticMesh(services: number): { readonly text: string; readonly named: readonly NamedProxy[] } {
  const folder = mkdtempSync(join(tmpdir(), "portolan-bench-"));
  try {
    execFileSync(process.execPath, [fileURLToPath(generator), "--services", String(services), "--out", folder]);
    const named: readonly NamedProxy[] = JSON.parse(readFileSync(join(folder, "nodes.json"), "utf8"));
    return { text: readFileSync(join(folder, "input.yaml"), "utf8"), named };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function publish(store: ObjectStore, worlds: readonly CompiledWorld[]) {
  const publisher = createPublisher(store);
  const results: { ms: number; objects: number; bytes: number }[] = [];
  for (const world of worlds) {
    const base = await publisher.head();
    const startMs = performance.now();
    const result = await publisher.publish(world, base);
    if (result.kind !== "published") throw new Error(result.kind);
    results.push({ ms: performance.now() - startMs, ...result.written });
  }
  return results;
}

const kib = (bytes: number) => `${Math.round(bytes / 1024)} KiB`;

const base = await yardstick();
const { text, named } = syntheticMesh(1_000);
const compileFiles = createFileCompiler({ ...defaultWorldOptions, named });
const edited = (weight: number) => text.replace(/"weight":\s*90/, `"weight":${weight}`);
const compiled: CompiledWorld[] = [];
for (const weight of [90, 80, 70]) {
  const startMs = performance.now();
  compiled.push(
    compileFiles([{ file: "input.yaml", text: edited(weight) }], [{ name: "bench", version: String(weight) }]).value,
  );
  console.log(
    `${weight === 90 ? "compile from nothing" : "compile again, one VirtualService changed"}: ${withRatio(performance.now() - startMs, base)}`,
  );
}

const folder = mkdtempSync(join(tmpdir(), "portolan-bench-"));
const s3 = await startS3();
const stores: readonly [string, ObjectStore][] = [
  ["memory", memoryStore()],
  ["files, fsync", fileStore(folder)],
  ["S3", s3Store({ client: s3.client, bucket: s3.bucket })],
];
for (const [name, store] of stores) {
  const [full, ...changes] = await publish(store, compiled);
  const change = changes.at(-1);
  if (full === undefined || change === undefined) continue;
  console.log(`${name}: full ${full.objects} objects, ${kib(full.bytes)}, ${withRatio(full.ms, base)}`);
  console.log(
    `${name}: one VirtualService changed ${change.objects} objects, ${kib(change.bytes)}, ${withRatio(change.ms, base)}`,
  );
}
await s3.close();
rmSync(folder, { recursive: true });

const [first] = compiled;
const [one] = first?.classes ?? [];
if (first !== undefined && one !== undefined) {
  const classes = Array.from({ length: 200 }, (_, i) => {
    const own = [
      { name: `inbound|${i}||`, text: `{"name":"inbound|${i}||"}`, version: String(i).padStart(64, "0"), from: [] },
    ];
    const shape = { ...one.poll, clusters: [...one.poll.clusters, ...own].sort((a, b) => byCodePoint(a.name, b.name)) };
    return { id: `class-${String(i).padStart(3, "0")}`, stream: shape, poll: shape };
  });
  const nobody = { attributes: [], labels: {}, classes: {}, defaults: {} };
  const world = { ...first, classes, classifier: nobody, nodes: [] };
  const [shared] = await publish(memoryStore(), [world]);
  const single = { ...world, classes: classes.slice(0, 1) };
  const [alone] = await publish(memoryStore(), [single]);
  if (shared !== undefined && alone !== undefined) {
    console.log(
      `200 classes with one cluster of their own each: ${kib(shared.bytes)} stored, ${kib(alone.bytes * 200)} as separate copies, ${withRatio(shared.ms, base)}`,
    );
  }
}
