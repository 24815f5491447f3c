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
import type { BenchOptions, Row } from "./report.ts";

const child = new URL("./compile-child.ts", import.meta.url).pathname;
const sliceChild = new URL("./slice-child.ts", import.meta.url).pathname;

const compileRow = z.object({
  services: z.number(),
  work: z.string(),
  /** Threads of the compile. */
  workers: z.number(),
  ms: z.number(),
  cpuMs: z.number(),
  objects: z.number(),
  kib: z.number(),
  /** Of the thread that publishes. */
  heapMib: z.number(),
  /** The most that the process, with all of its threads, has had of memory. */
  rssMib: z.number(),
});

/** One piece of work: written to the store, and held between this change and the next after a collection. */
export type CompileRow = z.infer<typeof compileRow>;

const sliceRow = z.object({ slices: z.number(), classes: z.number(), ms: z.number(), rssMib: z.number() });

/** One slice of a world's classes, in a process of its own. */
export type SliceRow = z.infer<typeof sliceRow>;

/** Five thousand services want more than V8 takes by itself. */
const roomy = ["--max-old-space-size=12288"];

/** Into so many are classes cut to see what memory one takes. */
const slicesFor = (services: number): number => (services > 1000 ? 64 : 16);

/** Heaps that a slice is tried in, in MiB, from small to large: those of Workers and of Lambda functions, and some between. */
const heaps = [128, 160, 192, 256, 384, 512, 768, 1024, 2048];

/** The smallest heap that a slice of a store's sources is compiled in. */
function sliceOf(folder: string, slices: number): (SliceRow & { readonly heapMib: number }) | undefined {
  for (const heapMib of heaps) {
    const run = spawnSync(process.execPath, [`--max-old-space-size=${heapMib}`, sliceChild, folder, String(slices)], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    });
    if (run.status === 0) return { ...sliceRow.parse(JSON.parse(run.stdout)), heapMib };
  }
  return undefined;
}

interface Child {
  readonly folder: string;
  readonly works: readonly string[];
  /** 1 when absent. */
  readonly workers?: number;
}

function rowsOf(services: number, { folder, works, workers = 1 }: Child): readonly CompileRow[] {
  const run = spawnSync(process.execPath, [...roomy, child, String(services), folder, String(workers), ...works], {
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
  return [...Map.groupBy(rows, ({ work, workers }) => `${work} ${workers}`).values()].flatMap((rounds) => {
    const sorted = rounds.toSorted((a, b) => a.cpuMs - b.cpuMs);
    return sorted[Math.floor(sorted.length / 2)] ?? [];
  });
}

export async function compileBench({ report, services, quick }: BenchOptions): Promise<void> {
  const all: CompileRow[] = [];
  const sliced: Row[] = [];
  const top = mkdtempSync(join(tmpdir(), "portolan-bench-"));
  try {
    for (const size of quick ? services.slice(0, 1) : services) {
      const folder = join(top, String(size));
      const changes = ["everything", "virtual-service", "endpoint"];
      const bytes = rowsOf(size, { folder: join(folder, "none"), works: ["bytes"] });
      const warm = rowsOf(size, { folder: join(folder, "v3"), works: changes });
      const cold = rowsOf(size, { folder: join(folder, "v3"), works: ["virtual-service-cold-process"] });
      const legacy = rowsOf(size, { folder: join(folder, "v1"), works: ["virtual-service-v1"] });
      const threads = rowsOf(size, { folder: join(folder, "threads"), works: changes, workers: 2 });
      all.push(...medians([...bytes, ...warm, ...cold, ...legacy, ...threads]));
      const slices = slicesFor(size);
      const slice = sliceOf(join(folder, "v3"), slices);
      sliced.push({ services: size, ...(slice ?? { slices, heapMib: `over ${heaps.at(-1)}` }) });
    }
  } finally {
    // Not before: whoever makes a file has ext4 pass over all inodes that were freed in the last minutes, one by one.
    rmSync(top, { recursive: true });
  }
  report.table(
    "From files to a published root; every proxy of the mesh",
    all.map(({ services: count, work, workers, ms, cpuMs, objects, kib, heapMib, rssMib }) => ({
      services: count,
      work,
      workers,
      ms,
      CPU: cpuMs,
      objects,
      KiB: kib,
      "heap MiB": heapMib,
      "peak RSS MiB": rssMib,
    })),
  );
  report.table("One slice of all classes, in the smallest heap that it is compiled in", sliced);
  report.rows("compile", all);
}
