import { buildMesh } from "../../lib/mesh/build-mesh.ts";
import { createMemo } from "../../lib/mesh/memo/memo.ts";
import type { Proxy } from "../../lib/mesh/proxy/proxy.ts";
import { generate } from "../../lib/xds/generate.ts";
import { type ResourceType, resourceTypes } from "../../lib/xds/resource.ts";
import { type WholeResources, wholeResources } from "../whole-resources.ts";
import { compareStatus } from "./compare-status.ts";
import { type Difference, fileDifferences } from "./differences.ts";
import { asJson, type Json } from "./json.ts";
import { loadCase } from "./load-case.ts";
import { normaliseFile } from "./normalise.ts";
import type { FileOutcome } from "./outcome.ts";
import { expectedReader } from "./store/case-store.ts";
import type { Expected } from "./store/expected.ts";
import type { Suite } from "./suite.ts";

/** The suites whose cases hold the four resource files of each proxy. */
export function xdsSuite(name: string, dirs: readonly string[]): Suite {
  const readExpected = expectedReader();
  return {
    name,
    dirs,
    run: (folder, withStatus) => {
      const world = loadCase(folder.path);
      const memo = createMemo();
      const mesh = buildMesh(world, memo).value;
      const made = new Map(
        world.proxies.map((proxy) => [nameOf(proxy), wholeResources(generate(mesh, proxy, memo).value)]),
      );
      // A proxy of which nothing was made, or which nothing is expected for, is a difference too.
      const expected = readExpected(folder.path);
      const files = [...new Set([...Object.keys(expected), ...made.keys()])].flatMap((name) =>
        resourceTypes.map((type) => compareFile(expected[name], name, type, made.get(name))),
      );
      const status = withStatus ? compareStatus(folder.path, mesh.statuses()) : undefined;
      return { ...folder, files, ...(status === undefined ? {} : { status }), error: undefined };
    },
    filesOf: ({ path }) =>
      Object.entries(readExpected(path)).flatMap(([proxy, files]) =>
        Object.keys(files).map((type) => ({ proxy, file: `${type}.json` })),
      ),
  };
}

/** The name that `nodes.json` gives the proxy; its id ends in the namespace. */
export function nameOf(proxy: Proxy): string {
  return proxy.id.slice(0, proxy.id.lastIndexOf("."));
}

function compareFile(
  answers: Expected[string] | undefined,
  proxy: string,
  type: ResourceType,
  resources: WholeResources | undefined,
): FileOutcome {
  const expected = answers?.[type];
  const actual = resources && normaliseFile(asJson(resources[type].map((resource) => resource.json)));
  return { proxy, file: `${type}.json`, differences: compare(expected && normaliseFile(expected), actual) };
}

function compare(expected: Json | undefined, actual: Json | undefined): readonly Difference[] {
  if (expected === undefined || actual === undefined) return [{ path: "$", expected, actual }];
  return fileDifferences(expected, actual);
}
