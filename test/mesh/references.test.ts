import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createMemo } from "../../lib/incremental/memo.ts";
import { buildMesh } from "../../lib/mesh/build-mesh.ts";
import type { World } from "../../lib/mesh/world.ts";
import { generate } from "../../lib/xds/generate.ts";
import { rdsNames } from "../../lib/xds/rds-names.ts";
import { resourceTypes } from "../../lib/xds/resource.ts";
import { propertyRuns } from "../soak-options.ts";
import { wholeResources } from "../whole-resources.ts";
import { randomWorld, worldOf } from "./random-world.ts";

const compat = fc.constantFrom<World["compat"]>("istio", "shared");
const runs = { numRuns: propertyRuns(60) };

describe("the answers for any valid world", () => {
  it("name each resource once, in order, and hold what they refer to", () => {
    fc.assert(
      fc.property(randomWorld, compat, (parts, form) => {
        const of = worldOf(parts, form);
        const memo = createMemo();
        const mesh = buildMesh(of, memo).value;
        for (const proxy of of.proxies) {
          const resources = wholeResources(generate(mesh, proxy, memo).value);
          for (const type of resourceTypes) {
            const names = resources[type].map(({ name }) => name);
            expect(names).toEqual([...new Set(names)].sort());
          }
          const tables = new Set(resources.routes.map(({ name }) => name));
          for (const name of rdsNames(resources.listeners.map(({ json }) => json))) expect(tables).toContain(name);
          const assignments = new Set(resources.endpoints.map(({ name }) => name));
          for (const { json, name } of resources.clusters) {
            if ("type" in json && json.type === "EDS") expect(assignments).toContain(name);
          }
        }
      }),
      runs,
    );
  });

  it("say which objects each resource comes from, all of them in the world", () => {
    fc.assert(
      fc.property(randomWorld, compat, (parts, form) => {
        const of = worldOf(parts, form);
        const memo = createMemo();
        const mesh = buildMesh(of, memo).value;
        const known = new Set(of.configs.map(({ meta }) => `${meta.kind}/${meta.namespace}/${meta.name}`));
        for (const proxy of of.proxies) {
          const resources = wholeResources(generate(mesh, proxy, memo).value);
          for (const type of resourceTypes) {
            for (const { from } of resources[type]) {
              for (const key of from) expect(known).toContain(`${key.kind}/${key.namespace}/${key.name}`);
            }
          }
        }
      }),
      runs,
    );
  });
});
