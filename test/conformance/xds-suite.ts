import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { buildMesh } from "../../lib/mesh/build-mesh.ts";
import { createMemo } from "../../lib/mesh/memo/memo.ts";
import type { Proxy } from "../../lib/mesh/proxy/proxy.ts";
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
      const made = new Map(world.proxies.map((proxy) => [nameOf(proxy), generate(mesh, proxy, memo).value]));
      // A proxy of which nothing was made, or which nothing is expected for, is a difference too.
      const expected = readdirSync(join(folder.path, "expected"));
      const files = [...new Set([...expected, ...made.keys()])].flatMap((name) =>
        resourceTypes.map((type) => compareFile(folder.path, name, type, made.get(name))),
      );
      return { ...folder, files, error: undefined };
    },
  };
}

/** The name that `nodes.json` gives the proxy; its id ends in the namespace. */
function nameOf(proxy: Proxy): string {
  return proxy.id.slice(0, proxy.id.lastIndexOf("."));
}

function compareFile(
  path: string,
  proxy: string,
  type: ResourceType,
  resources: ClassResources | undefined,
): FileOutcome {
  const file = `${type}.json`;
  const expectedPath = join(path, "expected", proxy, file);
  const expected: Json | undefined = existsSync(expectedPath)
    ? JSON.parse(readFileSync(expectedPath, "utf8"))
    : undefined;
  const actual = resources && normaliseFile(asJson(resources[type].map((resource) => resource.json)));
  return { proxy, file, differences: compare(expected && normaliseFile(expected), actual) };
}

function compare(expected: Json | undefined, actual: Json | undefined): readonly Difference[] {
  if (expected === undefined || actual === undefined) return [{ path: "$", expected, actual }];
  return fileDifferences(expected, actual);
}
