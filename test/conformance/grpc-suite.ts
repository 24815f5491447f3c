import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Release } from "../../lib/config/compat/compat-settings.ts";
import { createMemo } from "../../lib/incremental/memo.ts";
import { buildMesh } from "../../lib/mesh/build-mesh.ts";
import { viewsOf } from "../../lib/mesh/views/views-of.ts";
import { generate } from "../../lib/xds/generate.ts";
import { type ResourceType, resourceTypes } from "../../lib/xds/resource.ts";
import { wholeResources } from "../whole-resources.ts";
import { fileDifferences } from "./differences.ts";
import { type GrpcRequest, grpcAnswer } from "./grpc-answer.ts";
import { asJson, isArray, isObject, type Json } from "./json.ts";
import { loadCase } from "./load-case.ts";
import { normaliseFile } from "./normalise.ts";
import type { FileOutcome } from "./outcome.ts";
import { expectedReader } from "./store/case-store.ts";
import type { Suite } from "./suite.ts";
import { nameOf } from "./xds-suite.ts";

/** The suite of programs that speak xDS themselves: their requests by name are sent in turn, and the last answer of each type is compared. */
export function grpcSuite(name: string, dirs: readonly string[], release: Release = "1.30"): Suite {
  const readExpected = expectedReader();
  return {
    name,
    dirs,
    run: (folder) => {
      const answered = answersOf(folder.path, release);
      const expected = readExpected(folder.path);
      const files = [...new Set([...Object.keys(expected), ...answered.keys()])].flatMap((proxy) =>
        resourceTypes.map((type): FileOutcome => {
          const wanted = normalAnswer(Object.values(objectOf(expected[proxy]?.[type])));
          const made = normalAnswer(answered.get(proxy)?.get(type) ?? []);
          return { proxy, file: `${type}.json`, differences: fileDifferences(wanted, made) };
        }),
      );
      return { ...folder, files, error: undefined };
    },
    filesOf: ({ path }) =>
      Object.entries(readExpected(path)).flatMap(([proxy, files]) =>
        Object.keys(files).map((type) => ({ proxy, file: `${type}.json` })),
      ),
  };
}

type Answers = ReadonlyMap<ResourceType, readonly Json[]>;

/** By node, then by type: the last answer. */
function answersOf(path: string, release: Release): ReadonlyMap<string, Answers> {
  const world = loadCase(path, { release });
  const memo = createMemo();
  const mesh = buildMesh(world, memo).value;
  const requests: Readonly<Record<string, readonly GrpcRequest[]>> = JSON.parse(
    readFileSync(join(path, "requests.json"), "utf8"),
  );
  return new Map(
    world.proxies.map((proxy) => {
      const views = viewsOf(mesh, proxy, memo);
      if (views.kind !== "grpc") throw new Error(`${proxy.id} is no program that speaks xDS itself`);
      const held = wholeResources(generate(mesh, proxy, memo).value);
      const answers = (requests[nameOf(proxy)] ?? []).map((request): readonly [ResourceType, readonly Json[]] => [
        request.type,
        grpcAnswer(request, { held, views }, memo).map(({ json }) => asJson(json)),
      ]);
      return [nameOf(proxy), new Map(answers)];
    }),
  );
}

/** As `normaliseFile`, with virtual hosts in one order: Istio walks a map here, and programs pick by domain. */
function normalAnswer(resources: readonly Json[]): Json {
  const sorted = resources.map((resource) =>
    isObject(resource) && isArray(resource.virtualHosts)
      ? { ...resource, virtualHosts: normaliseFile(resource.virtualHosts) }
      : resource,
  );
  return normaliseFile(sorted);
}

const objectOf = (value: Json | undefined): Readonly<Record<string, Json>> => (isObject(value) ? value : {});
