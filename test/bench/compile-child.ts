/**
 * One process of the benchmark `compile`: fills a store from files, publishes, changes, and prints a line of JSON for each piece
 * of work. `node compile-child.ts <services> <workers> <store folder> <work>…`
 */
import { createWorldRecompiler } from "../../lib/compile/recompile.ts";
import { writeShard } from "../../lib/compile/source-shard.ts";
import { defaultWorldOptions, type WorldOptions } from "../../lib/compile/world-of.ts";
import type { SourceFile } from "../../lib/config/directory.ts";
import { fileStore } from "../../lib/storage/files.ts";
import { heapMib } from "./heap.ts";
import { syntheticMesh } from "./synthetic-mesh.ts";

/** One piece of work, as the benchmark prints it. */
export interface CompileRow {
  readonly services: number;
  readonly work: string;
  readonly ms: number;
  readonly cpuMs: number;
  /** Written to the store, HEAD and the history's entry among them. */
  readonly objects: number;
  readonly kib: number;
  /** Held between this change and the next, after a collection. */
  readonly heapMib: number;
}

const [size = "100", folder = "", ...works] = process.argv.slice(2);
const services = Number(size);
const wants = (work: string): boolean => works.includes(work);

/** A folder as teams keep it: a file for each service, with its pods and its routing. */
function filesOf(text: string): readonly SourceFile[] {
  const byApp = new Map<string, string[]>();
  for (const document of text.split("\n---\n")) {
    const { metadata }: { readonly metadata: { readonly name: string; readonly namespace?: string } } =
      JSON.parse(document);
    const app = /^(app-\d+)/.exec(metadata.name)?.[1] ?? "mesh";
    byApp.set(app, [...(byApp.get(app) ?? []), document]);
  }
  return [...byApp].map(([app, documents]) => ({ file: `${app}.yaml`, text: `${documents.join("\n---\n")}\n` }));
}

/** The files with one of them edited, another way in each round. */
function editedFiles(
  files: readonly SourceFile[],
  edit: "virtual-service" | "endpoint",
  round: number,
): readonly SourceFile[] {
  const [pattern, text] =
    edit === "virtual-service"
      ? [/"timeout":"\d+s"/, `"timeout":"${round + 10}s"`]
      : [/"conditions":\{"ready":(?:true|false)\}/, `"conditions":{"ready":${round % 2 === 1}}`];
  const at = files.findIndex((file) => file.file === "app-0.yaml");
  return files.map((file, place) => (place === at ? { ...file, text: file.text.replace(pattern, text) } : file));
}

const files = filesOf(syntheticMesh(services).text);

function openCompiler(world: WorldOptions) {
  const store = fileStore(folder);
  const recompile = createWorldRecompiler({ store, sources: ["main"], world });
  return {
    /** From files to a published root. */
    async publish(input: readonly SourceFile[]) {
      await writeShard(store, "main", input);
      const { result } = await recompile();
      return result.written;
    },
  };
}

async function row(work: string, run: () => Promise<{ readonly objects: number; readonly bytes: number }>) {
  const start = performance.now();
  const cpuBefore = process.cpuUsage();
  const { objects, bytes } = await run();
  const { user, system } = process.cpuUsage(cpuBefore);
  const ms = performance.now() - start;
  const line: CompileRow = {
    services,
    work,
    ms: Math.round(ms * 10) / 10,
    cpuMs: Math.round((user + system) / 100) / 10,
    objects,
    kib: Math.round(bytes / 1024),
    heapMib: Math.round(heapMib()),
  };
  console.log(JSON.stringify(line));
}

if (wants("virtual-service-cold-process")) {
  const { publish } = openCompiler(defaultWorldOptions);
  await row("virtual-service-cold-process", () => publish(editedFiles(files, "virtual-service", 99)));
} else {
  const world: WorldOptions = wants("virtual-service-v1")
    ? { ...defaultWorldOptions, legacyApi: "0.8" }
    : defaultWorldOptions;
  const suffix = wants("virtual-service-v1") ? "-v1" : "";
  const { publish } = openCompiler(world);
  await row(`everything${suffix}`, () => publish(files));
  let current = files;
  for (const edit of ["virtual-service", "endpoint"] as const) {
    if (!wants(`${edit}${suffix}`)) continue;
    for (let round = 0; round < 3; round += 1) {
      current = editedFiles(current, edit, round);
      await row(`${edit}${suffix}`, () => publish(current));
    }
  }
}
