/**
 * Cold generation and changes of this checkout and of another one, in one process and in turns. A round of one is followed by a
 * round of the other, so both see the same machine; and V8 has compiled both for everything that is measured, as it has in a
 * compiler that keeps running. A round begins after a collection, as all rounds of `measure` do: none pays for the other's garbage.
 */
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { World } from "../../lib/mesh/world.ts";
import type { NamedProxy } from "../named-proxy.ts";
import { sharedFolder } from "../shared.ts";
import type { Checkout } from "./checkout.ts";
import { editVirtualService } from "./edits.ts";
import { fleetSize, fleetTexts, onePerNamespace } from "./fleet.bench.ts";
import type { Row } from "./report.ts";
import { syntheticMesh } from "./synthetic-mesh.ts";
import { elapsedIn, stopwatchAfterCollection } from "./yardstick.ts";

/** Something that both checkouts do. */
export interface Work {
  readonly what: string;
  /** @returns a round of a checkout: ms of what is measured; the objects are read before */
  readonly prepare: (checkout: Checkout) => (round: number) => number;
}

/** Rows of the benchmarks that can be taken in one process. */
export const worksOf = {
  "istio-cases": (): readonly Work[] => {
    const folder = fileURLToPath(new URL("bench/istio-cases/", sharedFolder));
    if (!existsSync(folder)) return [];
    const cases = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory());
    return cases.map(({ name }) => ({
      what: name,
      prepare: (checkout) => cold(checkout, checkout.loadCase(join(folder, name)), 0),
    }));
  },
  mesh: (sizes: readonly number[]): readonly Work[] =>
    sizes.flatMap((size) =>
      ["one sidecar", "one gateway"].map((what, at) => ({
        what: `${size} services: ${what}`,
        prepare: (checkout) => cold(checkout, meshOf(checkout, size), at),
      })),
    ),
  fleet: (): readonly Work[] =>
    Object.entries(fleetTexts()).flatMap(([scope, text]) => [
      { what: `${fleetSize} sidecars see ${scope}`, prepare: (checkout) => fleet(checkout, text, false) },
      {
        what: `${fleetSize} sidecars see ${scope}: one VirtualService changed`,
        prepare: (checkout) => fleet(checkout, text, true),
      },
    ]),
};

/** All types of one proxy with nothing remembered, the mesh being there. */
function cold({ createMemo, buildMesh, generate }: Checkout, world: World, at: number): () => number {
  const proxy = world.proxies[at];
  if (proxy === undefined) throw new Error("there is no such proxy");
  return () => {
    const memo = createMemo();
    const mesh = buildMesh(world, memo).value;
    return elapsedIn(() => generate(mesh, proxy, memo), stopwatchAfterCollection).ms;
  };
}

/** Mesh and all types of a sidecar in each namespace: with nothing remembered, or after a change with everything before it. */
function fleet(checkout: Checkout, text: string, isChange: boolean): (round: number) => number {
  const { createMemo, buildMesh, generate, readFiles, worldOf, defaultWorldOptions } = checkout;
  const kept = createMemo();
  let loaded = readFiles([{ file: "input.yaml", text }]);
  return (round) => {
    if (isChange) loaded = editVirtualService(loaded, round);
    const world = worldOf(loaded, { ...defaultWorldOptions, compat: "istio" }, kept).value;
    const memo = isChange ? kept : createMemo();
    return elapsedIn(() => {
      const mesh = buildMesh(world, memo).value;
      for (const proxy of onePerNamespace(world.proxies)) generate(mesh, proxy, memo);
    }, stopwatchAfterCollection).ms;
  };
}

/** Of the synthetic mesh, written as a case: that is how every checkout can read the proxies that it names. */
function meshOf({ loadCase }: Checkout, size: number): World {
  const folder = mkdtempSync(join(tmpdir(), "portolan-bench-"));
  try {
    const { text, named }: { readonly text: string; readonly named: readonly NamedProxy[] } = syntheticMesh(size);
    writeFileSync(join(folder, "input.yaml"), text);
    writeFileSync(join(folder, "nodes.json"), JSON.stringify(named));
    return loadCase(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Passes over all works, of which the first are not measured, and ms that each pass gives to a work at least. */
const passes = { warmUp: 6, measured: 18, ms: 110 };

/** A shared machine only ever makes rounds slower. */
const lowerQuartile = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 4)] ?? 0;

/** @returns for each work the lower quartiles of the rounds, ms, and their ratio */
export function takeInTurns(works: readonly Work[], here: Checkout, there: Checkout, quick: boolean): readonly Row[] {
  const taken = works.map(({ what, prepare }) => {
    const sides = [prepare(here), prepare(there)].map((round) => ({ round, ms: [] as number[] }));
    return { what, sides, round: 0 };
  });
  const { warmUp, measured, ms } = quick ? { warmUp: 0, measured: 1, ms: 0 } : passes;
  for (let pass = 0; pass < warmUp + measured; pass += 1) {
    for (const work of taken) {
      const end = performance.now() + ms;
      do {
        work.round += 1;
        // Who comes first changes: whatever a round leaves behind is left to both.
        const order = work.round % 2 === 0 ? work.sides : work.sides.toReversed();
        for (const side of order) {
          const took = side.round(work.round);
          if (pass >= warmUp) side.ms.push(took);
        }
      } while (performance.now() < end);
    }
  }
  return taken.map(({ what, sides }) => {
    const [own = 0, other = 0] = sides.map((side) => lowerQuartile(side.ms));
    return { "": what, rounds: sides[0]?.ms.length ?? 0, here: own, there: other, "here / there": own / other };
  });
}
