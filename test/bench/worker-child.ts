/**
 * One process of the benchmark `worker`, bundled as a Worker is: `node worker-child.mjs <folder of the store> <first round> <last round>
 * <editor> <services>` publishes in each round what the store's sources hold: everything in round 0, and then one change after the other.
 * A process of its own writes them, and the analysers look at each. It prints a line of JSON for each.
 */
import { spawnSync } from "node:child_process";
import { workerMemory } from "../../lib/compile/recompile/worker-memory.ts";
import { createLeasedCompiler } from "../../lib/compile/triggers/leased-compiler.ts";
import { defaultWorldOptions } from "../../lib/compile/world/world-of.ts";
import { readAnalysis } from "../../lib/snapshot/analysis-record.ts";
import { fileStore } from "../../lib/storage/files/files.ts";
import type { WorkerRow } from "./worker.bench.ts";

const [folder = "", first = "0", last = "1", editor = "", services = "1000"] = process.argv.slice(2);
const build = "that of the benchmark";
const store = fileStore(folder);
const recompile = createLeasedCompiler({
  store,
  sources: ["main"],
  world: defaultWorldOptions,
  build,
  memoryLimits: workerMemory,
  pace: { quietMs: 0, longestWaitMs: 0 },
  onError: (cause) => {
    throw cause;
  },
});

const workOf = (round: number): WorkerRow["work"] => {
  if (round === 0) return "everything";
  return round % 2 === 1 ? "virtual-service" : "endpoint";
};

for (let round = Number(first); round <= Number(last); round += 1) {
  spawnSync(process.execPath, [editor, folder, services, String(round)], { stdio: "inherit" });
  const start = performance.now();
  const before = process.cpuUsage();
  const { kind, version } = await recompile();
  if (kind !== "published") throw new Error(`round ${round} was not published: ${kind}`);
  const isAnalyzed = (await readAnalysis(store, version))?.kind === "analyzed";
  const { user, system } = process.cpuUsage(before);
  const [ms, cpuMs] = [performance.now() - start, (user + system) / 1_000].map(Math.round);
  console.log(JSON.stringify({ work: workOf(round), ms: ms ?? 0, cpuMs: cpuMs ?? 0, isAnalyzed } satisfies WorkerRow));
}
