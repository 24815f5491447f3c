import { describe, expect, it } from "vitest";
import type { Release } from "../../lib/config/compat/compat-settings.ts";
import { createMemo, type Memo } from "../../lib/incremental/memo.ts";
import { buildMesh } from "../../lib/mesh/build-mesh.ts";
import type { World } from "../../lib/mesh/world.ts";
import { generate } from "../../lib/xds/generate.ts";
import { loadCase } from "../conformance/load-case.ts";
import { casesOf } from "../conformance/suites.ts";
import { wholeResources } from "../whole-resources.ts";

const steps: readonly Release[] = ["1.30", "1.31", "1.32", "1.30"];

function answersIn(world: World, memo: Memo) {
  const mesh = buildMesh(world, memo).value;
  return world.proxies.map((proxy) => wholeResources(generate(mesh, proxy, memo).value));
}

describe("a mesh that is answered like another release", () => {
  it.each(casesOf("v3-next").map(({ name, path }) => [name, path]))(
    "is made as if it had been from the start: %s",
    (_, path) => {
      const world = loadCase(path);
      const memo = createMemo();
      for (const release of steps) {
        const at: World = { ...world, release };
        expect(answersIn(at, memo)).toEqual(answersIn(at, createMemo()));
      }
    },
  );
});
