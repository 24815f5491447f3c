import { readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, it } from "vitest";
import { createMemo } from "../../lib/incremental/memo.ts";
import { buildMesh } from "../../lib/mesh/build-mesh.ts";
import type { FormName } from "../../lib/mesh/forms.ts";
import type { World } from "../../lib/mesh/world.ts";
import { generate } from "../../lib/xds/generate.ts";
import { resourceTypes } from "../../lib/xds/resource.ts";
import { type WholeResources, wholeResources } from "../whole-resources.ts";
import { fileDifferences } from "./differences.ts";
import { type FormDifference, type FormRule, formRules, rulesBehind } from "./form-rules.ts";
import { asJson, isArray, isObject, type Json } from "./json.ts";
import { loadCase } from "./load-case.ts";
import { casesOf } from "./suites.ts";

/** What no suite has a case of is in ours. */
const formCases = fileURLToPath(new URL("form-cases/", import.meta.url));
const cases = [
  ...["v3", "v3-samples", "gateway-api", "grpc"].flatMap((suite) => casesOf(suite).map(({ path }) => path)),
  ...readdirSync(formCases).map((name) => join(formCases, name)),
];

describe("the two forms of answers", () => {
  let differences: readonly { readonly path: string; readonly found: FormDifference }[] = [];
  beforeAll(() => {
    differences = cases.flatMap((path) => formDifferences(loadCase(path)).map((found) => ({ path, found })));
  });

  it("differ by one rule of docs/differences.md wherever they differ", () => {
    const unexplained = differences.flatMap(({ path, found }) => {
      const rules = rulesBehind(found);
      const { proxy, type, path: at, istio, shared } = found;
      const place = `${path} ${proxy.id} ${type} ${at}: ${JSON.stringify(istio)} <> ${JSON.stringify(shared)}`;
      return rules.length === 1 ? [] : [`${place} (${rules.join(", ") || "no rule"})`];
    });
    expect(unexplained.slice(0, 20)).toEqual([]);
  });

  it("differ by every rule somewhere", () => {
    const shown = new Set<FormRule>(differences.flatMap(({ found }) => rulesBehind(found)));
    expect(formRules.filter((rule) => !shown.has(rule))).toEqual([]);
  });
});

function formDifferences(world: World): readonly FormDifference[] {
  const [istio, shared] = [answersIn(world, "istio"), answersIn(world, "shared")];
  return world.proxies.flatMap((proxy, at) =>
    resourceTypes.flatMap((type) =>
      fileDifferences(jsonOf(istio[at], type), jsonOf(shared[at], type)).map(({ path, expected, actual }) => ({
        proxy,
        type,
        path,
        istio: expected,
        shared: actual,
      })),
    ),
  );
}

function answersIn(world: World, compat: FormName): readonly WholeResources[] {
  const memo = createMemo();
  const mesh = buildMesh({ ...world, compat }, memo).value;
  return world.proxies.map((proxy) => wholeResources(generate(mesh, proxy, memo).value));
}

const jsonOf = (resources: WholeResources | undefined, type: keyof WholeResources): Json =>
  membersByName(asJson(resources?.[type].map(({ json }) => json) ?? []));

/** Lists whose elements have names, and the field that holds them. */
const namedBy: Readonly<Record<string, string>> = { customTags: "tag", virtualHosts: "name" };

/** Tags of spans and virtual hosts by their names, so that one more does not move the others. */
function membersByName(json: Json): Json {
  if (isArray(json)) return json.map(membersByName);
  if (!isObject(json)) return json;
  return Object.fromEntries(
    Object.entries(json).map(([name, member]) => {
      const named = namedBy[name];
      if (named === undefined || !isArray(member)) return [name, membersByName(member)];
      const nameOf = (element: Json): string => (isObject(element) ? String(element[named]) : "");
      return [name, Object.fromEntries(member.map((element) => [nameOf(element), membersByName(element)]))];
    }),
  );
}
