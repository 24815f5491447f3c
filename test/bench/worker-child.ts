/**
 * One process of the benchmark `worker`, bundled as a Worker is: `node worker-child.mjs <folder of the store> <rounds> <editor> <services>`
 * publishes what the store's sources hold, and then one change after the other, each of which a process of its own writes, and has the
 * analysers look at each. It prints a line of JSON for each.
 */
import { spawnSync } from "node:child_process";
import { workerRoom } from "../../lib/compile/recompile/worker-room.ts";
import { createLeasedCompiler } from "../../lib/compile/triggers/leased-compiler.ts";
import { defaultWorldOptions } from "../../lib/compile/world-of.ts";
import { readAnalysis } from "../../lib/snapshot/analysis-record.ts";
import { fileStore } from "../../lib/storage/files.ts";
import type { WorkerRow } from "./worker.bench.ts";

const [folder = "", rounds = "1", editor = "", services = "1000"] = process.argv.slice(2);
const build = "that of the benchmark";
const store = fileStore(folder);
const recompile = createLeasedCompiler({
  store,
  sources: ["main"],
  world: defaultWorldOptions,
  build,
  room: workerRoom,
  pace: { quietMs: 0, longestWaitMs: 0 },
  onError: (cause) => {
    throw cause;
  },
});

async function row(work: WorkerRow["work"], round: number): Promise<void> {
  spawnSync(process.execPath, [editor, folder, services, work, String(round)], { stdio: "inherit" });
  const start = performance.now();
  const before = process.cpuUsage();
  const { kind, version } = await recompile();
  if (kind !== "published") throw new Error(`${work} ${round} was not published: ${kind}`);
  const isAnalyzed = (await readAnalysis(store, version))?.kind === "analyzed";
  const { user, system } = process.cpuUsage(before);
  const [ms, cpuMs] = [performance.now() - start, (user + system) / 1_000].map(Math.round);
  console.log(JSON.stringify({ work, ms: ms ?? 0, cpuMs: cpuMs ?? 0, isAnalyzed } satisfies WorkerRow));
}

await row("everything", 0);
for (let round = 1; round <= Number(rounds); round += 1)
  await row(round % 2 === 1 ? "virtual-service" : "endpoint", round);
