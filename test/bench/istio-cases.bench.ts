/** The inputs of Istio's own generation benchmarks, which lie beside the repository: one proxy, all four types. */
import { existsSync, readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { loadCase } from "../conformance/load-case.ts";
import { sharedFolder } from "../shared.ts";
import { measureCold } from "./cold-generation.ts";
import { istioCases } from "./istio-figures.ts";
import type { BenchOptions, Row } from "./report.ts";
import { roundsOf, timingRow } from "./yardstick.ts";

const folder = new URL("bench/istio-cases/", sharedFolder);

export async function istioCasesBench({ report, yard, quick }: BenchOptions): Promise<void> {
  if (!existsSync(folder)) {
    report.line("skipped: Istio's benchmark inputs lie in ../shared/bench, which is not there");
    return;
  }
  const names = readdirSync(folder, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? [entry.name] : [],
  );
  report.table(
    "Istio's benchmark cases: one proxy, all types, without the mesh",
    names.flatMap((name) => caseRows(name, { yard, quick })),
  );
}

function caseRows(name: string, { yard, quick }: Pick<BenchOptions, "yard" | "quick">): readonly Row[] {
  const world = loadCase(fileURLToPath(new URL(name, folder)));
  const [proxy] = world.proxies;
  if (proxy === undefined) return [{ "": `${name}: names no proxy` }];
  const { timing, counts } = measureCold(world, proxy, roundsOf(quick));
  const theirs = istioCases.get(name);
  const resources = counts === theirs?.resources ? counts : `${counts}, Istio ${theirs?.resources}`;
  return [{ ...timingRow(name, timing, yard, theirs), resources }];
}
