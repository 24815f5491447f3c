import type { ProxyBuild } from "../../lib/base/proxy-build.ts";
import type { Release } from "../../lib/config/compat/compat-settings.ts";
import { createMemo } from "../../lib/incremental/memo.ts";
import { buildMesh } from "../../lib/mesh/build-mesh.ts";
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
import type { CaseFolder, Suite } from "./suite.ts";

/** How the cases of a suite are read and compared. */
interface Comparing {
  /** What is expected of a case. */
  readonly read: (folder: Pick<CaseFolder, "name" | "path">) => Expected;
  /** Whose build of Envoy its proxies are. */
  readonly build?: ProxyBuild;
  /** Which release of Istio they were recorded from; absent: 1.30. */
  readonly release?: Release;
  /** Steps that both sides go through before they are compared. */
  readonly normalise: (resources: Json) => Json;
  /** Compares only the types that a case has answers of. */
  readonly types?: "expected";
}

/** The suites whose cases hold the four resource files of each proxy. */
export function xdsSuite(name: string, dirs: readonly string[]): Suite {
  const read = expectedReader();
  return comparedBy(name, dirs, { read: ({ path }) => read(path), normalise: normaliseFile });
}

/** A suite of such cases that is read or compared in a way of its own. */
export function comparedBy(name: string, dirs: readonly string[], comparing: Comparing): Suite {
  const { read, build, release } = comparing;
  const reading = { ...(build === undefined ? {} : { build }), ...(release === undefined ? {} : { release }) };
  return {
    name,
    dirs,
    run: (folder, withStatus) => {
      const world = loadCase(folder.path, reading);
      const memo = createMemo();
      const mesh = buildMesh(world, memo).value;
      const made = new Map(
        world.proxies.map((proxy) => [nameOf(proxy), wholeResources(generate(mesh, proxy, memo).value)]),
      );
      // A proxy of which nothing was made, or which nothing is expected for, is a difference too.
      const expected = read(folder);
      const files = [...new Set([...Object.keys(expected), ...made.keys()])].flatMap((name) =>
        resourceTypes
          .filter((type) => comparing.types !== "expected" || expected[name]?.[type] !== undefined)
          .map((type) => compareFile(expected[name], name, type, made.get(name), comparing.normalise)),
      );
      const status = withStatus ? compareStatus(folder.path, mesh.statuses()) : undefined;
      return { ...folder, files, ...(status === undefined ? {} : { status }), error: undefined };
    },
    filesOf: (folder) =>
      Object.entries(read(folder)).flatMap(([proxy, files]) =>
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
  normalise: (resources: Json) => Json,
): FileOutcome {
  const expected = answers?.[type];
  const actual = resources && normalise(asJson(resources[type].map((resource) => resource.json)));
  return { proxy, file: `${type}.json`, differences: compare(expected && normalise(expected), actual) };
}

function compare(expected: Json | undefined, actual: Json | undefined): readonly Difference[] {
  if (expected === undefined || actual === undefined) return [{ path: "$", expected, actual }];
  return fileDifferences(expected, actual);
}
