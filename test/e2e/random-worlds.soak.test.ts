import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createMemo } from "../../lib/incremental/memo.ts";
import { buildMesh } from "../../lib/mesh/build-mesh.ts";
import { generate } from "../../lib/xds/generate.ts";
import { pollShape } from "../../lib/xds/shape.ts";
import { type RandomWorld, randomWorld, worldOf } from "../mesh/random-world.ts";
import { soakSeed } from "../soak-options.ts";
import { wholeResources } from "../whole-resources.ts";
import { admit, complaint, newCrowd } from "./crowd.ts";

/** `RANDOM_WORLDS=2000 SOAK_SEED=7` for a longer run, or for one that failed. */
const count = Number(process.env.RANDOM_WORLDS ?? 200);
const seed = soakSeed(Date.now() % 1_000_000);
const batchSize = 20;

function complaintAbout(worlds: readonly RandomWorld[]): string {
  const crowd = newCrowd();
  for (const [at, parts] of worlds.entries()) {
    const world = worldOf(parts, "shared");
    const memo = createMemo();
    const mesh = buildMesh(world, memo).value;
    for (const proxy of world.proxies) {
      admit(crowd, `${at} ${proxy.id}`, wholeResources(pollShape(generate(mesh, proxy, memo).value, memo)));
    }
  }
  return complaint(crowd);
}

describe(`Envoy takes the resources of ${count} random worlds, seed ${seed}`, () => {
  const worlds = fc.sample(randomWorld, { numRuns: count, seed });
  const batches = Array.from({ length: Math.ceil(count / batchSize) }, (_, at) =>
    worlds.slice(at * batchSize, (at + 1) * batchSize),
  );

  it.each(batches.map((batch, at) => [at * batchSize, batch] as const))(
    "from world %i on",
    (_first, batch) => {
      const whole = complaintAbout(batch);
      // One world at a time says more than twenty.
      const culprit = whole === "" ? undefined : batch.find((world) => complaintAbout([world]) !== "");
      expect({
        complaint: whole,
        culprit: culprit?.configs.map(({ meta, spec }) => ({ kind: meta.kind, name: meta.name, spec })),
      }).toEqual({
        complaint: "",
        culprit: undefined,
      });
    },
    120_000,
  );
});
