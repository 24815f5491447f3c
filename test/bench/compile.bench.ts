/**
 * The whole way that a user waits for: from the files of a folder to a published root, for every proxy of the mesh; then what one
 * change costs in the same process, and in one that starts cold. Each size runs in processes of its own, so that no figure holds what
 * another left in memory.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import { type CompileRow, rowsOf } from "./compile-rows.ts";
import { printedIn } from "./heap-child.ts";
import type { BenchOptions, Row } from "./report.ts";

const sliceChild = new URL("./slice-child.ts", import.meta.url).pathname;

const sliceRow = z.object({ slices: z.number(), classes: z.number(), ms: z.number(), rssMib: z.number() });

/** One slice of a world's classes, in a process of its own. */
export type SliceRow = z.infer<typeof sliceRow>;

/** Into so many are classes cut to see what memory one takes. */
const slicesFor = (services: number): number => (services > 1000 ? 64 : 16);

/** Heaps that a compile is tried in, in MiB, from small to large: those of Workers and of Lambda functions, and some between. */
export const heaps = [128, 160, 192, 256, 384, 512, 768, 1024, 2048];

/** The smallest heap that a slice of a store's sources is compiled in. */
function sliceOf(folder: string, slices: number): (SliceRow & { readonly heapMib: number }) | undefined {
  for (const heapMib of heaps) {
    const printed = printedIn(heapMib, sliceChild, [folder, String(slices)]);
    if (printed !== undefined) return { ...sliceRow.parse(JSON.parse(printed)), heapMib };
  }
  return undefined;
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
      all.push(...bytes, ...warm, ...cold, ...legacy, ...threads);
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
