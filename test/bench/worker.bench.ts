/**
 * The compile function in the memory of a Worker: everything, then changes in the same isolate, then one in each of two cold isolates, in
 * the smallest heap in which all of them are published. It is bundled as a Worker is, since programs that are loaded file by file take more.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";
import { z } from "zod";
import { printedIn } from "./heap-child.ts";
import type { BenchOptions, Row } from "./report.ts";
import { median } from "./yardstick.ts";

const workerRow = z.object({
  work: z.enum(["everything", "virtual-service", "endpoint"]),
  ms: z.number(),
  cpuMs: z.number(),
  isAnalyzed: z.boolean(),
});

export type WorkerRow = z.infer<typeof workerRow>;

/** In MiB; the last is what an isolate of 128 MB has at most. */
const heaps = [64, 80, 96, 112, 118];

/** Changes in one isolate. */
const pushes = 50;
const editor = new URL("./worker-edit.ts", import.meta.url).pathname;

/** @returns the program that `smallestHeap` runs */
export async function bundledWorker(folder: string): Promise<string> {
  const outfile = join(folder, "worker-child.mjs");
  await build({
    entryPoints: [new URL("./worker-child.ts", import.meta.url).pathname],
    outfile,
    bundle: true,
    minify: true,
    platform: "node",
    format: "esm",
    target: "node22",
    banner: { js: "import{createRequire}from'node:module';const require=createRequire(import.meta.url);" },
  });
  return outfile;
}

interface Pushes {
  readonly folder: string;
  readonly services: number;
  /** How many changes follow on everything. */
  readonly rounds: number;
  /** Of which the first is taken that suffices, in MiB; all when absent. */
  readonly tried?: readonly number[];
}

interface Isolate {
  readonly isolate: "warm" | "cold";
}

/** The smallest heap in which all is published, and what was; undefined where an isolate has none that suffices. */
export function smallestHeap(child: string, { folder, services, rounds, tried = heaps }: Pushes) {
  const turns = [
    { isolate: "warm", first: 0, last: rounds },
    { isolate: "cold", first: rounds + 1, last: rounds + 1 },
    { isolate: "cold", first: rounds + 2, last: rounds + 2 },
  ] as const;
  for (const heapMib of tried) {
    const store = mkdtempSync(join(folder, "store-"));
    const made: (WorkerRow & Isolate)[] = [];
    const isPublished = turns.every(({ isolate, first, last }) => {
      const args = [store, String(first), String(last), editor, String(services)];
      const printed = printedIn(heapMib, child, args, "heap");
      for (const line of printed?.trim().split("\n") ?? [])
        made.push({ isolate, ...workerRow.parse(JSON.parse(line)) });
      return printed !== undefined;
    });
    if (isPublished) return { heapMib, made };
  }
  return undefined;
}

export async function workerBench({ report, services, quick }: BenchOptions): Promise<void> {
  const rows: Row[] = [];
  const top = mkdtempSync(join(tmpdir(), "portolan-bench-"));
  const rounds = quick ? 2 : pushes;
  const tried = quick ? heaps.slice(-1) : heaps;
  try {
    const child = await bundledWorker(top);
    for (const size of quick ? services.slice(0, 1) : services) {
      const found = smallestHeap(child, { folder: top, services: size, rounds, tried });
      if (found === undefined) rows.push({ services: size, "heap MiB": `over ${heaps.at(-1)}` });
      for (const [name, of] of Map.groupBy(found?.made ?? [], ({ work, isolate }) => `${work}, ${isolate} isolate`))
        rows.push({
          services: size,
          "heap MiB": found?.heapMib ?? 0,
          work: name,
          times: of.length,
          ms: median(of.map(({ ms }) => ms)),
          CPU: median(of.map(({ cpuMs }) => cpuMs)),
          "CPU, most": Math.max(...of.map(({ cpuMs }) => cpuMs)),
          analyzed: of.filter(({ isAnalyzed }) => isAnalyzed).length,
        });
    }
  } finally {
    rmSync(top, { recursive: true });
  }
  report.table("Everything and then changes, one after the other, in isolates of the compile function", rows);
  report.rows("worker", rows);
}
