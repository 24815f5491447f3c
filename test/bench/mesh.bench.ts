/**
 * From the registries' model of the synthetic mesh to resources: mesh, views and all four types, cold and after one
 * change; beside what Istio takes for the same mesh.
 */
import { compile } from "../../lib/compile/compile.ts";
import { defaultWorldOptions, worldOf } from "../../lib/compile/world/world-of.ts";
import { type LoadedDirectory, readFiles } from "../../lib/config/folder/directory.ts";
import { createMemo, type Memo } from "../../lib/incremental/memo.ts";
import { buildMesh } from "../../lib/mesh/build-mesh.ts";
import type { World } from "../../lib/mesh/world.ts";
import { generate } from "../../lib/xds/generate.ts";
import type { ClassResources } from "../../lib/xds/resource.ts";
import { type NamedProxy, nodeOfNamed } from "../named-proxy.ts";
import { measureCold } from "./cold-generation.ts";
import { type Edit, editEndpoint, editVirtualService } from "./edits.ts";
import { heapMib } from "./heap.ts";
import { istioMesh } from "./istio-figures.ts";
import type { BenchOptions, Row } from "./report.ts";
import { syntheticMesh } from "./synthetic-mesh.ts";
import {
  type Elapsed,
  elapsedIn,
  measure,
  type Rounds,
  roundsOf,
  type Timing,
  timingOf,
  timingRow,
} from "./yardstick.ts";

/** The world of a mesh with only these proxies. */
function worldFor(loaded: LoadedDirectory, named: readonly NamedProxy[], memo: Memo): World {
  const world = worldOf(loaded, { ...defaultWorldOptions, compat: "istio", nodes: named.map(nodeOfNamed) }, memo).value;
  return { ...world, proxies: world.proxies.slice(-named.length) };
}

/** Mesh and all types of every proxy of the world. */
function generateAll(world: World, memo: Memo): readonly ClassResources[] {
  const mesh = buildMesh(world, memo).value;
  return world.proxies.map((proxy) => generate(mesh, proxy, memo).value);
}

interface EditTimings {
  readonly registry: Timing;
  readonly resources: Timing;
}

/** What one edit after another costs with the memo kept, apart for the registries and for mesh, views and resources. */
function afterEdits(loaded: LoadedDirectory, named: readonly NamedProxy[], edit: Edit, rounds: Rounds): EditTimings {
  const memo = createMemo();
  let current = loaded;
  generateAll(worldFor(current, named, memo), memo);
  const registry: Elapsed[] = [];
  const resources = measure((round, start) => {
    current = edit(current, round);
    const elapsed = start();
    const world = worldFor(current, named, memo);
    registry.push(elapsed());
    return elapsedIn(() => generateAll(world, memo), start);
  }, rounds);
  return { registry: timingOf(registry.slice(-rounds.measured)), resources };
}

export async function meshBench({ report, yard, services, quick }: BenchOptions): Promise<void> {
  const rounds = roundsOf(quick);
  for (const size of services) {
    const theirs = istioMesh.get(size);
    const { text, named } = syntheticMesh(size);
    const loaded = readFiles([{ file: "input.yaml", text }]);
    const world = worldFor(loaded, named, createMemo());
    const rows: Row[] = [
      timingRow(
        "mesh, from loaded registries",
        measure((_, start) => elapsedIn(() => buildMesh(world, createMemo()), start), rounds),
        yard,
        theirs?.context,
      ),
    ];
    for (const proxy of world.proxies) {
      const { timing, counts } = measureCold(world, proxy, rounds);
      const [name, figure] = proxy.type === "router" ? ["gateway", theirs?.gateway] : ["sidecar", theirs?.sidecar];
      rows.push(timingRow(`one ${name}, all types (${counts})`, timing, yard, figure));
    }
    rows.push(
      timingRow(
        "both, both shapes, to checked and hashed bytes",
        measure(
          (_, start) => elapsedIn(() => compile(world, [], createMemo()), start),
          roundsOf(quick, { measured: 5, warmUp: 1 }),
        ),
        yard,
      ),
    );
    for (const [what, edit] of [
      ["VirtualService", editVirtualService],
      ["endpoint", editEndpoint],
    ] as const) {
      const timings = afterEdits(loaded, named, edit, rounds);
      const figure = what === "VirtualService" ? theirs?.change : undefined;
      rows.push(timingRow(`one ${what} changed: mesh, views, both proxies`, timings.resources, yard, figure));
      rows.push(timingRow(`one ${what} changed: registries and census before that`, timings.registry, yard));
    }
    report.table(`Mesh of ${size} services`, rows);
    const heap = heapHeld(text, named);
    report.line(
      `heap: ${heap.toFixed(0)} MiB for objects, model, mesh and both proxies' resources; Istio ${theirs?.heapMib ?? "-"} MiB`,
    );
  }
}

/** MiB that a compiler holds between two changes. */
function heapHeld(text: string, named: readonly NamedProxy[]): number {
  const before = heapMib();
  const memo = createMemo();
  const loaded = readFiles([{ file: "input.yaml", text }]);
  const held = [loaded, generateAll(worldFor(loaded, named, memo), memo)];
  const heap = heapMib() - before;
  // Used after the measurement, so that nothing of it is collected before.
  return held.length > 0 && memo !== undefined ? heap : 0;
}
