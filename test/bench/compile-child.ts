/**
 * One process of the benchmark `compile`: `node compile-child.ts <services> <folder of the store> <workers> <work>…` does pieces of
 * work in the order below and then prints a line of JSON for each. With `--checkout FOLDER` another checkout publishes, which does not
 * tell how much it has written.
 */
import { setImmediate } from "node:timers/promises";
import { parseArgs } from "node:util";
import { prewriteByThread } from "../../lib/cli/serve/prewrite-thread.ts";
import { compile } from "../../lib/compile/compile.ts";
import { defaultWorldOptions, type WorldOptions, worldOf } from "../../lib/compile/world/world-of.ts";
import { readFiles, type SourceFile } from "../../lib/config/folder/directory.ts";
import { createMemo } from "../../lib/incremental/memo.ts";
import { fileStore } from "../../lib/storage/files/files.ts";
import { nodeOfNamed } from "../named-proxy.ts";
import type { CompileRow } from "./compile-rows.ts";
import { openEarlier } from "./earlier-checkout.ts";
import { editedFiles, folderEdits } from "./folder-edits.ts";
import { heapMib } from "./heap.ts";
import { foldersFiles } from "./mesh-folder.ts";
import { openProcess } from "./open-process.ts";
import { syntheticMesh } from "./synthetic-mesh.ts";

/** Rounds of what is measured several times in one process, and those before them: the first ones are V8's. */
const rounds = 9;
const roundsBefore = 6;

const { values, positionals } = parseArgs({ allowPositionals: true, options: { checkout: { type: "string" } } });
const [size = "100", folder = "", workerCount = "1", ...works] = positionals;
const services = Number(size);
const workers = Number(workerCount);
const { text, named } = syntheticMesh(services);
const files = foldersFiles(text);

interface Written {
  readonly objects: number;
  readonly bytes: number;
}

const untold: Written = { objects: 0, bytes: 0 };

/** Has a folder compiled and published. */
type Publish = (input: readonly SourceFile[]) => Promise<Written>;

async function openMesh(world: WorldOptions): Promise<Publish> {
  if (values.checkout !== undefined) {
    const publish = await openEarlier(values.checkout, folder);
    return async (input) => {
      await publish(input);
      return untold;
    };
  }
  const onTrouble = (reason: string) => console.error(reason);
  const startPrewrite = workers > 1 ? prewriteByThread({ where: folder, onTrouble }) : undefined;
  const publish = openProcess(fileStore(folder), { world, startPrewrite });
  return async (input) => (await publish(input)).written;
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
  for (let round = 0; round < roundsBefore; round += 1) {
    compile(world, [], createMemo());
    await setImmediate();
  }
  for (let round = 0; round < rounds; round += 1) {
    await row("bytes", async () => {
      compile(world, [], createMemo());
      return untold;
    });
  }
}

/** Everything, then changes in the same process. */
async function warm(world: WorldOptions, suffix: string): Promise<void> {
  held = await openMesh(world);
  const publish = held;
  await row(`everything${suffix}`, () => publish(files));
  for (const [work, edit] of Object.entries(folderEdits)) {
    if (!works.includes(`${work}${suffix}`)) continue;
    // Of another service, so that nothing of what is measured lies in the store.
    for (let round = 0; round < roundsBefore; round += 1)
      await publish(editedFiles(files, "app-5", (before) => edit(before, round)));
    for (let round = 0; round < rounds; round += 1) {
      const edited = editedFiles(files, "app-0", (before) => edit(before, round));
      await row(`${work}${suffix}`, () => publish(edited));
    }
  }
  // As it was at first: a process that comes after this one is to find the one change that it makes, and no endpoints that went back.
  await publish(files);
}

if (works.includes("bytes")) await toBytes();
if (works.includes("virtual-service-cold-process")) {
  const changed = editedFiles(files, "app-0", (before) => folderEdits["virtual-service"](before, 99));
  await row("virtual-service-cold-process", async () => (await openMesh(defaultWorldOptions))(changed));
}
if (works.includes("everything")) await warm(defaultWorldOptions, "");
if (works.includes("virtual-service-v1") || works.includes("everything-v1"))
  await warm({ ...defaultWorldOptions, legacyApi: "0.8" }, "-v1");

// Once, at the end: a full collection throws away what V8 has compiled, and the next round would pay for it.
const heap = Math.round(heapMib());
const rss = Math.round(process.resourceUsage().maxRSS / 1_024);
for (const line of rows) console.log(JSON.stringify({ ...line, heapMib: heap, rssMib: rss } satisfies CompileRow));
if (held === undefined && works.includes("everything")) throw new Error("nothing was held");
