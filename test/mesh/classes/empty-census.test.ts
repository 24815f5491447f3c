import { expect, it } from "vitest";
import { createMemo, noMemo } from "../../../lib/incremental/memo.ts";
import { buildMesh } from "../../../lib/mesh/build-mesh.ts";
import { classify } from "../../../lib/mesh/classes/classify.ts";
import { worldOf } from "../random-world.ts";

it.each([
  ["a memo", createMemo()],
  ["none", noMemo],
])("of no proxies has no classes, and comes to an end, with %s", (_what, memo) => {
  const world = worldOf({ services: [], configs: [], proxies: [] }, "shared");
  const { classes, nodes } = classify(buildMesh(world, memo).value, world.proxies, memo).value;
  expect([classes.ids, nodes]).toEqual([[], []]);
});
