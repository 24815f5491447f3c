/** Many sidecars of the mesh of 1,000 services: what they share, with and without Sidecar resources. */
import { defaultWorldOptions, worldOf } from "../../lib/compile/world/world-of.ts";
import { readFiles } from "../../lib/config/folder/directory.ts";
import { createMemo, type Memo } from "../../lib/incremental/memo.ts";
import { buildMesh } from "../../lib/mesh/build-mesh.ts";
import { classify } from "../../lib/mesh/classes/classify.ts";
import type { Proxy } from "../../lib/mesh/proxy/proxy.ts";
import type { World } from "../../lib/mesh/world.ts";
import { generate } from "../../lib/xds/generate.ts";
import { editVirtualService } from "./edits.ts";
import { istioFleet } from "./istio-figures.ts";
import type { BenchOptions, Row } from "./report.ts";
import { namespaceName, syntheticMesh } from "./synthetic-mesh.ts";
import { elapsedIn, measure, roundsOf, timingRow } from "./yardstick.ts";

export const fleetSize = 20;
const teams = new Set(Array.from({ length: fleetSize }, (_, at) => namespaceName(at)));

/** A document for each namespace that lets its sidecars see it and the control plane's. */
const sidecars = [...teams].map((namespace) =>
  JSON.stringify({
    apiVersion: "networking.istio.io/v1",
    kind: "Sidecar",
    metadata: { name: "default", namespace },
    spec: { egress: [{ hosts: ["./*", "istio-system/*"] }] },
  }),
);

/** The mesh of 1,000 services by what its sidecars see. */
export function fleetTexts(): Readonly<Record<keyof typeof istioFleet, string>> {
  const { text } = syntheticMesh(1000);
  return { "own namespace": `${text}---\n${sidecars.join("\n---\n")}\n`, everything: text };
}

/** A sidecar of one workload in each namespace. */
export function onePerNamespace(proxies: readonly Proxy[]): readonly Proxy[] {
  const found = new Map<string, Proxy>();
  for (const proxy of proxies) {
    const { namespace } = proxy;
    if (teams.has(namespace) && !found.has(namespace)) found.set(namespace, proxy);
  }
  return [...found.values()];
}

function generateEach(world: World, memo: Memo): number {
  const mesh = buildMesh(world, memo).value;
  let resources = 0;
  for (const proxy of world.proxies) {
    const made = generate(mesh, proxy, memo).value;
    for (const list of [made.clusters, made.endpoints, made.listeners, made.routes])
      resources += list.shared.length + list.own.length;
  }
  return resources;
}

function fleetRows(text: string, scope: keyof typeof istioFleet, { yard, quick }: BenchOptions): readonly Row[] {
  const loaded = readFiles([{ file: "input.yaml", text }]);
  const memo = createMemo();
  const worldOfFleet = (from: typeof loaded): World => {
    const world = worldOf(from, { ...defaultWorldOptions, compat: "istio" }, memo).value;
    return { ...world, proxies: onePerNamespace(world.proxies) };
  };
  const world = worldOfFleet(loaded);
  let resources = 0;
  const cold = measure(
    (_, start) => {
      const elapsed = start();
      resources = generateEach(world, createMemo());
      return elapsed();
    },
    roundsOf(quick, { measured: 5, warmUp: 2 }),
  );
  let current = loaded;
  const changed = measure(
    (round, start) => {
      current = editVirtualService(current, round);
      const next = worldOfFleet(current);
      return elapsedIn(() => generateEach(next, memo), start);
    },
    roundsOf(quick, { measured: 9, warmUp: 3 }),
  );
  const { cold: istioCold, warm = 0 } = istioFleet[scope];
  return [
    timingRow(`see ${scope}: cold (${resources} resources)`, cold, yard, { cold: istioCold }),
    timingRow(`see ${scope}: one VirtualService changed; Istio: nothing changed, cache filled`, changed, yard, {
      cold: warm,
    }),
  ];
}

export async function fleetBench(options: BenchOptions): Promise<void> {
  const { report, yard, quick } = options;
  const texts = fleetTexts();
  report.table(
    `${fleetSize} sidecars in ${fleetSize} namespaces of the mesh of 1,000 services; Istio with one worker`,
    [
      ...fleetRows(texts["own namespace"], "own namespace", options),
      ...fleetRows(texts.everything, "everything", options),
    ],
  );
  const everyone = worldOf(
    readFiles([{ file: "input.yaml", text: texts.everything }]),
    defaultWorldOptions,
    createMemo(),
  ).value;
  let classes = 0;
  const all = measure(
    (_, start) => {
      const elapsed = start();
      const memo = createMemo();
      const mesh = buildMesh(everyone, memo).value;
      const census = classify(mesh, everyone.proxies, memo).value;
      for (const proxy of census.classes.proxies) generate(mesh, proxy, memo);
      classes = census.classes.ids.length;
      return elapsed();
    },
    roundsOf(quick, { measured: 3, warmUp: 1 }),
  );
  report.table("Every pod of the mesh of 1,000 services", [
    timingRow(`${everyone.proxies.length} sidecars in ${classes} classes, cold`, all, yard),
  ]);
}
