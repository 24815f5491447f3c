/** The processes of the benchmark `compile`, each with a mesh and a store of its own, and what they print. */
import { spawnSync } from "node:child_process";
import { z } from "zod";

const child = new URL("./compile-child.ts", import.meta.url).pathname;

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

/** Five thousand services want more than V8 takes by itself. */
const roomy = ["--max-old-space-size=12288"];

export interface Child {
  /** Of the store. */
  readonly folder: string;
  readonly works: readonly string[];
  /** 1 when absent. */
  readonly workers?: number;
  /** Folder of another checkout; this one's code when absent. */
  readonly checkout?: string;
}

export function rowsOf(services: number, { folder, works, workers = 1, checkout }: Child): readonly CompileRow[] {
  const other = checkout === undefined ? [] : ["--checkout", checkout];
  const args = [...roomy, child, ...other, String(services), folder, String(workers), ...works];
  const run = spawnSync(process.execPath, args, {
    encoding: "utf8",
    maxBuffer: 1 << 26,
    stdio: ["ignore", "pipe", "inherit"],
  });
  if (run.status !== 0) throw new Error(`the compile of ${services} services ended with ${run.status ?? run.signal}`);
  const lines = run.stdout.split("\n").filter((line) => line !== "");
  return medians(lines.map((line) => compileRow.parse(JSON.parse(line))));
}

/** Of several rounds of one work the one in the middle, by CPU time. */
function medians(rows: readonly CompileRow[]): readonly CompileRow[] {
  return [...Map.groupBy(rows, ({ work, workers }) => `${work} ${workers}`).values()].flatMap((rounds) => {
    const sorted = rounds.toSorted((a, b) => a.cpuMs - b.cpuMs);
    return sorted[Math.floor(sorted.length / 2)] ?? [];
  });
}
