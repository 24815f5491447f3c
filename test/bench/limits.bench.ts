/**
 * What a mesh of so many services needs where it is compiled: CPU, memory and requests of the store for a signed push, the plan of
 * Cloudflare's and the memory of a Lambda function that follow from it, and what a month costs.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import { lambdaMonth, listPrices, workersMonth } from "../../lib/cli/cost/prices.ts";
import { type Fleet, useOf, usualFleet } from "../../lib/cli/cost/use.ts";
import { usualHoldMs } from "../../lib/config/setting-values.ts";
import { heaps } from "./compile.bench.ts";
import { printedIn } from "./heap-child.ts";
import type { BenchOptions, Row } from "./report.ts";
import { bundledWorker, smallestHeap } from "./worker.bench.ts";

const child = new URL("./limits-child.ts", import.meta.url).pathname;

const pushRow = z.object({
  cpuMs: z.number(),
  /** The median of later changes in the same process; 0 where there are none. */
  warmCpuMs: z.number(),
  reads: z.number(),
  writes: z.number(),
  lists: z.number(),
  /** The most that the process has had of memory. */
  rssMib: z.number(),
});

/** A signed push to a compile function that starts cold. */
export type PushRow = z.infer<typeof pushRow>;

/** Of the paid plan; of 128 MB of memory some is no heap. @see https://developers.cloudflare.com/workers/platform/limits/ */
const worker = { heapMib: 118, cpuMs: 60_000, storeRequests: 10_000 };

/** Sizes of Lambda functions, in MB, and how much of one a compile may take. */
const lambdaMb = [512, 1_024, 2_048, 4_096, 8_192, 10_240];
const lambdaShare = 0.8;

/** Below 128 too, since an isolate's memory is not heap alone. */
const wholeHeaps = [48, 64, 80, 96, 112, ...heaps, 3_072, 4_096];

/** Proxies of the synthetic mesh: a sidecar beside each pod. */
const proxiesPerService = 10;

function pushOf(services: number, folder: string, work: "first" | "change" | "warm"): PushRow {
  const run = spawnSync(process.execPath, ["--max-old-space-size=12288", child, String(services), folder, work], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
  });
  if (run.status !== 0) throw new Error(`a push of ${services} services ended with ${run.status ?? run.signal}`);
  return pushRow.parse(JSON.parse(run.stdout));
}

interface Measured {
  readonly services: number;
  readonly first: PushRow;
  readonly change: PushRow;
  /** The smallest heap that a first push is compiled in as a whole. */
  readonly heapMib: number | undefined;
  /** The smallest heap that a Worker compiles everything and changes in; undefined: more than an isolate has. */
  readonly workerMib: number | undefined;
  readonly storedBytes: number;
}

interface Measuring {
  /** The least heap to try, in MiB: what suffices for a smaller mesh. */
  readonly least: number;
  /** The compile function as a Worker bundles it. */
  readonly program: string;
}

function measure(services: number, top: string, { least, program }: Measuring): Measured {
  const folder = join(top, "store");
  const first = pushOf(services, folder, "first");
  const storedBytes = bytesIn(folder);
  const counted = pushOf(services, folder, "change");
  const timed = pushOf(services, folder, "warm");
  const { reads, writes, lists } = counted;
  const suffices = (heap: number) =>
    printedIn(heap, child, [String(services), join(top, `heap-${heap}`), "first"]) !== undefined;
  const heapMib = wholeHeaps.find((heap) => heap >= least && suffices(heap));
  const workerMib = smallestHeap(program, { folder: top, services, rounds: 4 })?.heapMib;
  return { services, first, change: { ...timed, reads, writes, lists }, heapMib, workerMib, storedBytes };
}

const bytesIn = (folder: string): number =>
  readdirSync(folder, { recursive: true, withFileTypes: true }).reduce(
    (sum, entry) => sum + (entry.isFile() ? statSync(join(entry.parentPath, entry.name)).size : 0),
    0,
  );

const requestsOf = ({ reads, writes, lists }: PushRow): number => reads + writes + lists;

/** The plan for a mesh that no Worker can compile. */
const elsewhere = "Lambda or Node";

/** Where Cloudflare compiles a mesh, and what for that is to be done besides. */
function cloudflarePlan({ first, workerMib = Number.POSITIVE_INFINITY }: Measured): string {
  if (workerMib > worker.heapMib) return elsewhere;
  const tooMuch = first.cpuMs > worker.cpuMs || requestsOf(first) > worker.storeRequests;
  return tooMuch ? "a paid Worker; first push from Node" : "a paid Worker";
}

const lambdaMemory = ({ first, change }: Measured): number | undefined =>
  lambdaMb.find((mb) => Math.max(first.rssMib, change.rssMib) <= mb * lambdaShare);

function costRow(measured: Measured): Row {
  const { services, first, change, storedBytes } = measured;
  const compiling: Fleet = {
    ...usualFleet,
    proxies: 0,
    services,
    compileMs: change.cpuMs,
    readsPerCompile: change.reads,
    writesPerChange: change.writes + change.lists,
    writesPerService: (first.writes + first.lists) / services,
    storedBytes,
  };
  const proxies = services * proxiesPerService;
  const held = useOf({ ...compiling, proxies, holdMs: usualHoldMs });
  const atOnce = useOf({ ...compiling, proxies });
  const plan = cloudflarePlan(measured);
  const mb = lambdaMemory(measured);
  const prices = { ...listPrices, aws: { ...listPrices.aws, compileGb: (mb ?? 0) / 1_024 } };
  const dollars = (value: number) => Math.round(value * 100) / 100;
  return {
    services,
    proxies,
    "Workers: compiled by": plan,
    "$, compiles": plan === elsewhere ? "-" : dollars(workersMonth(useOf(compiling), listPrices)),
    "$, and held polls": dollars(workersMonth(held, listPrices)),
    "Lambda: MB": mb ?? "Node",
    "$, compiles there": dollars(lambdaMonth(useOf(compiling), prices)),
    "$, and polls at once": dollars(lambdaMonth(atOnce, prices)),
  };
}

const measuredRow = ({ services, first, change, heapMib, workerMib }: Measured): Row => ({
  services,
  "first push, CPU ms": first.cpuMs,
  "cold change": change.cpuMs,
  "warm change": change.warmCpuMs,
  "heap MiB": heapMib ?? `over ${wholeHeaps.at(-1)}`,
  "in a Worker": workerMib ?? "more than there is",
  "peak RSS MiB": Math.max(first.rssMib, change.rssMib),
  "first push, requests": requestsOf(first),
  "of them writes": first.writes,
  "change, requests": requestsOf(change),
  writes: change.writes,
});

export async function limitsBench({ report, services, quick }: BenchOptions): Promise<void> {
  const all: Measured[] = [];
  const top = mkdtempSync(join(tmpdir(), "portolan-bench-"));
  try {
    const program = await bundledWorker(top);
    for (const size of quick ? services.slice(0, 1) : services.toSorted((a, b) => a - b))
      all.push(measure(size, mkdtempSync(join(top, "size-")), { least: all.at(-1)?.heapMib ?? 0, program }));
  } finally {
    // Not before: whoever makes a file has ext4 pass over all inodes that were freed in the last minutes, one by one.
    rmSync(top, { recursive: true });
  }
  report.table("A signed push to a compile function, on Node", all.map(measuredRow));
  report.table(`What it needs, and a month by the price lists of ${listPrices.asOf}`, all.map(costRow));
  report.rows(
    "limits",
    all.map((measured) => ({ ...measuredRow(measured), ...costRow(measured) })),
  );
}
