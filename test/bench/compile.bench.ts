/**
 * The whole way that a user waits for: from the files of a folder to a published root, for every proxy of the mesh; then what one
 * change costs in the same process, and in one that starts cold. Each size runs in processes of its own, so that no figure holds what
 * another left in memory.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import type { BenchOptions } from "./report.ts";

const child = new URL("./compile-child.ts", import.meta.url).pathname;

const compileRow = z.object({
  services: z.number(),
  work: z.string(),
  ms: z.number(),
  cpuMs: z.number(),
  objects: z.number(),
  kib: z.number(),
  heapMib: z.number(),
});

/** One piece of work: written to the store, and held between this change and the next after a collection. */
export type CompileRow = z.infer<typeof compileRow>;

function rowsOf(services: number, folder: string, works: readonly string[]): readonly CompileRow[] {
  const run = spawnSync(process.execPath, [child, String(services), folder, ...works], {
    encoding: "utf8",
    maxBuffer: 1 << 26,
    stdio: ["ignore", "pipe", "inherit"],
  });
  if (run.status !== 0) throw new Error(`the compile of ${services} services ended with ${run.status ?? run.signal}`);
  const lines = run.stdout.split("\n").filter((line) => line !== "");
  return lines.map((line) => compileRow.parse(JSON.parse(line)));
}

/** Of several rounds of one work the one in the middle, by CPU time. */
function medians(rows: readonly CompileRow[]): readonly CompileRow[] {
  return [...Map.groupBy(rows, ({ work }) => work).values()].flatMap((rounds) => {
    const sorted = rounds.toSorted((a, b) => a.cpuMs - b.cpuMs);
    return sorted[Math.floor(sorted.length / 2)] ?? [];
  });
}

export async function compileBench({ report, services, quick }: BenchOptions): Promise<void> {
  const all: CompileRow[] = [];
  for (const size of quick ? services.slice(0, 1) : services) {
    const folder = mkdtempSync(join(tmpdir(), "portolan-bench-"));
    try {
      const bytes = rowsOf(size, join(folder, "none"), ["bytes"]);
      const warm = rowsOf(size, join(folder, "v3"), ["everything", "virtual-service", "endpoint"]);
      const cold = rowsOf(size, join(folder, "v3"), ["virtual-service-cold-process"]);
      const legacy = rowsOf(size, join(folder, "v1"), ["virtual-service-v1"]);
      all.push(...medians([...bytes, ...warm, ...cold, ...legacy]));
    } finally {
      rmSync(folder, { recursive: true });
    }
  }
  report.table(
    "From files to a published root; every proxy of the mesh",
    all.map(({ services: count, work, ms, cpuMs, objects, kib, heapMib }) => ({
      services: count,
      work,
      ms,
      CPU: cpuMs,
      objects,
      KiB: kib,
      "heap MiB": heapMib,
    })),
  );
  report.rows("compile", all);
}
