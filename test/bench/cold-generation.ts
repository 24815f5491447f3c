import { createMemo } from "../../lib/incremental/memo.ts";
import { buildMesh } from "../../lib/mesh/build-mesh.ts";
import type { Proxy } from "../../lib/mesh/proxy/proxy.ts";
import type { World } from "../../lib/mesh/world.ts";
import { generate } from "../../lib/xds/generate.ts";
import { type ClassResources, resourceTypes, wholeList } from "../../lib/xds/resource.ts";
import { measure, type Rounds, type Timing } from "./yardstick.ts";

interface ColdGeneration {
  readonly timing: Timing;
  /** Clusters, load assignments, listeners and route tables, as Istio's figures count them. */
  readonly counts: string;
}

/** All types of one proxy with nothing remembered, the mesh being there. */
export function measureCold(world: World, proxy: Proxy, rounds: Rounds): ColdGeneration {
  let made: ClassResources | undefined;
  const timing = measure((_, start) => {
    const memo = createMemo();
    const mesh = buildMesh(world, memo).value;
    const elapsed = start();
    made = generate(mesh, proxy, memo).value;
    return elapsed();
  }, rounds);
  return {
    timing,
    counts: resourceTypes.map((type) => (made === undefined ? 0 : wholeList(made[type]).length)).join("/"),
  };
}
