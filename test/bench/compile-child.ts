/**
 * One process of the benchmark `compile`: `node compile-child.ts <services> <folder of the store> <workers> <work>…` does pieces of
 * work in the order below and then prints a line of JSON for each.
 */
import { setImmediate } from "node:timers/promises";
import { layingByThread } from "../../lib/cli/serve/laying-thread.ts";
import { compile } from "../../lib/compile/compile.ts";
import { createWorldRecompiler } from "../../lib/compile/recompile.ts";
import { createShardWriter } from "../../lib/compile/shards/write-shard.ts";
import { defaultWorldOptions, type WorldOptions, worldOf } from "../../lib/compile/world-of.ts";
import { readFiles, type SourceFile } from "../../lib/config/folder/directory.ts";
import { createMemo } from "../../lib/mesh/memo/memo.ts";
import { fileStore } from "../../lib/storage/files.ts";
import { nodeOfNamed } from "../named-proxy.ts";
import type { CompileRow } from "./compile.bench.ts";
import { heapMib } from "./heap.ts";
import { foldersFiles } from "./mesh-folder.ts";
import { syntheticMesh } from "./synthetic-mesh.ts";

const build = "that of the benchmark";

/** Rounds of what is measured several times in one process. */
const rounds = 5;

const [size = "100", folder = "", workerCount = "1", ...works] = process.argv.slice(2);
const services = Number(size);
const workers = Number(workerCount);
const { text, named } = syntheticMesh(services);
const files = foldersFiles(text);

type Edit = (text: string, round: number) => string;

const edits: Readonly<Record<"virtual-service" | "endpoint", Edit>> = {
  "virtual-service": (before, round) => before.replace(/"timeout":"\d+s"/, `"timeout":"${round + 10}s"`),
  // Another one of the slice's ten endpoints each time.
  endpoint: (before, round) => {
    let at = 0;
    return before.replace(/"conditions":\{"ready":true\}/g, (ready) =>
      at++ === round % 10 ? '"conditions":{"ready":false}' : ready,
    );
  },
};

const edited = (edit: Edit, round: number): readonly SourceFile[] =>
  files.map((file) => (file.file === "app-0.yaml" ? { ...file, text: edit(file.text, round) } : file));

interface Written {
  readonly objects: number;
  readonly bytes: number;
}

/** Has a folder compiled and published. */
type Publish = (input: readonly SourceFile[]) => Promise<Written>;

function openMesh(world: WorldOptions): Publish {
  const store = fileStore(folder);
  const texts = new Map<string, string>();
  const write = createShardWriter(store, "main", texts);
  const onTrouble = (reason: string) => console.error(reason);
  const startLaying = workers > 1 ? layingByThread({ where: folder, onTrouble }) : undefined;
  const recompile = createWorldRecompiler({ store, sources: ["main"], world, build, texts, startLaying });
  return async (input) => {
    await write(input);
    return (await recompile()).result.written;
  };
}

/** What a process keeps between changes: used after the measurement of the heap, so that nothing of it is collected before. */
let held: Publish | undefined;

const rows: Omit<CompileRow, "heapMib" | "rssMib">[] = [];

async function row(work: string, run: () => Promise<Written>): Promise<void> {
  // In a turn of its own, as compiles are: what a turn has looked at by weak references is not let go before its end.
  await setImmediate();
  const start = performance.now();
  const cpuBefore = process.cpuUsage();
  const { objects, bytes } = await run();
  const { user, system } = process.cpuUsage(cpuBefore);
  const ms = performance.now() - start;
  const tenths = (value: number): number => Math.round(value * 10) / 10;
  const told = { ms: tenths(ms), cpuMs: tenths((user + system) / 1_000) };
  rows.push({ services, work, workers, ...told, objects, kib: Math.round(bytes / 1_024) });
}

/** One sidecar and one gateway, in both shapes, from loaded registries to checked and hashed bytes. */
async function toBytes(): Promise<void> {
  const options = { ...defaultWorldOptions, nodes: named.map(nodeOfNamed) };
  const all = worldOf(readFiles([{ file: "input.yaml", text }]), options, createMemo()).value;
  const world = { ...all, proxies: all.proxies.slice(-named.length) };
  const nothing: Written = { objects: 0, bytes: 0 };
  // The first ones are V8's.
  for (let round = 0; round < rounds; round += 1) {
    compile(world, [], createMemo());
    await setImmediate();
  }
  for (let round = 0; round < rounds; round += 1) {
    await row("bytes", async () => {
      compile(world, [], createMemo());
      return nothing;
    });
  }
}

/** Everything, then changes in the same process. */
async function warm(world: WorldOptions, suffix: string): Promise<void> {
  held = openMesh(world);
  const publish = held;
  await row(`everything${suffix}`, () => publish(files));
  for (const [work, edit] of Object.entries(edits)) {
    if (!works.includes(`${work}${suffix}`)) continue;
    for (let round = 0; round < rounds; round += 1) {
      await row(`${work}${suffix}`, () => publish(edited(edit, round)));
    }
  }
}

if (works.includes("bytes")) await toBytes();
if (works.includes("virtual-service-cold-process")) {
  const edit = edits["virtual-service"];
  await row("virtual-service-cold-process", () => openMesh(defaultWorldOptions)(edited(edit, 99)));
}
if (works.includes("everything")) await warm(defaultWorldOptions, "");
if (works.includes("virtual-service-v1")) await warm({ ...defaultWorldOptions, legacyApi: "0.8" }, "-v1");

// Once, at the end: a full collection throws away what V8 has compiled, and the next round would pay for it.
const heap = Math.round(heapMib());
const rss = Math.round(process.resourceUsage().maxRSS / 1_024);
for (const line of rows) console.log(JSON.stringify({ ...line, heapMib: heap, rssMib: rss } satisfies CompileRow));
if (held === undefined && works.includes("everything")) throw new Error("nothing was held");
