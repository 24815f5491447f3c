import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { buildMesh } from "../../lib/mesh/build-mesh.ts";
import { createMemo } from "../../lib/mesh/memo.ts";
import { generate } from "../../lib/xds/generate.ts";
import { type ClassResources, type ResourceType, resourceTypes } from "../../lib/xds/resource.ts";
import { type Difference, fileDifferences } from "./differences.ts";
import { asJson, type Json } from "./json.ts";
import { loadCase } from "./load-case.ts";
import { normaliseFile } from "./normalise.ts";
import type { FileOutcome } from "./outcome.ts";
import type { Suite } from "./suite.ts";

/** The suites whose cases hold the four resource files of each proxy. */
export function xdsSuite(name: string, dir: URL): Suite {
  return {
    name,
    dir,
    run: (folder) => {
      const world = loadCase(folder.path);
      const memo = createMemo();
      const mesh = buildMesh(world, memo).value;
      const files = world.proxies.flatMap((proxy): readonly FileOutcome[] => {
        const resources = generate(mesh, proxy, memo).value;
        const proxyName = proxy.id.slice(0, proxy.id.lastIndexOf("."));
        return resourceTypes.map((type) => compareFile(folder.path, proxyName, type, resources));
      });
      return { ...folder, files, error: undefined };
    },
  };
}

function compareFile(path: string, proxy: string, type: ResourceType, resources: ClassResources): FileOutcome {
  const file = `${type}.json`;
  const expectedPath = join(path, "expected", proxy, file);
  const expected: Json | undefined = existsSync(expectedPath)
    ? JSON.parse(readFileSync(expectedPath, "utf8"))
    : undefined;
  const actual = asJson(resources[type].map((resource) => resource.json));
  return { proxy, file, differences: expected === undefined ? missing(actual) : compare(expected, actual) };
}

function compare(expected: Json, actual: Json): readonly Difference[] {
  return fileDifferences(normaliseFile(expected), normaliseFile(actual));
}

function missing(actual: Json): readonly Difference[] {
  return [{ path: "$", expected: undefined, actual }];
}
