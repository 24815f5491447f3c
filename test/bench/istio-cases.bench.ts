/** The inputs of Istio's own generation benchmarks: one proxy, all four types. */
import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { buildMesh } from "../../lib/mesh/build-mesh.ts";
import { createMemo } from "../../lib/mesh/memo.ts";
import { generate } from "../../lib/xds/generate.ts";
import { type ClassResources, resourceTypes } from "../../lib/xds/resource.ts";
import { loadCase } from "../conformance/load-case.ts";
import { istioCases } from "./istio-figures.ts";
import type { BenchOptions, Row } from "./report.ts";
import { sharedBench } from "./synthetic-mesh.ts";
import { measure, roundsOf, timingRow } from "./yardstick.ts";

const folder = new URL("istio-cases/", sharedBench);

export async function istioCasesBench({ report, yard, quick }: BenchOptions): Promise<void> {
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
  let made: ClassResources | undefined;
  const timing = measure((_, start) => {
    const memo = createMemo();
    const mesh = buildMesh(world, memo).value;
    const elapsed = start();
    made = generate(mesh, proxy, memo).value;
    return elapsed();
  }, roundsOf(quick));
  const theirs = istioCases.get(name);
  const ours = resourceTypes.map((type) => made?.[type].length ?? 0).join("/");
  const resources = ours === theirs?.resources ? ours : `${ours}, Istio ${theirs?.resources}`;
  return [{ ...timingRow(name, timing, yard, theirs), resources }];
}
