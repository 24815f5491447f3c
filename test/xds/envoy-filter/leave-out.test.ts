import { describe, expect, it } from "vitest";
import type { Stage } from "../../../lib/base/diagnostic.ts";
import { type AnyPatch, applyAcceptable } from "../../../lib/xds/envoy-filter/leave-out.ts";

/** Patch number `at` of an EnvoyFilter. */
function patchOf(filter: string, at: number): AnyPatch {
  const key = { group: "networking.istio.io", kind: "EnvoyFilter", name: filter, namespace: "evil" };
  return {
    context: "ANY",
    operation: "MERGE",
    match: {},
    value: {},
    merge: { replacesLists: false },
    key,
    origin: { key, file: "a.yaml", line: 1 },
    path: ["spec", "configPatches", at],
  };
}

/** Applies patches by listing them; each of the filter `bad` is a breach. */
function judging(suspects: readonly AnyPatch[]) {
  let applied = 0;
  const { value, diagnostics } = applyAcceptable({
    what: "the listener l",
    suspects,
    apply: (without): Stage<readonly AnyPatch[]> => {
      applied += 1;
      return { value: suspects.filter((patch) => !without.has(patch)), diagnostics: [] };
    },
    refusals: (patches) =>
      patches
        .filter(({ key }) => key.name === "bad")
        .map(({ path }) => ({ reason: `breach ${path.join(".")}`, hint: "" })),
  });
  return { left: value.map(({ key }) => key.name), diagnostics, applied };
}

const many = (filter: string, count: number) => Array.from({ length: count }, (_, at) => patchOf(filter, at));

describe("patches for which Envoy would refuse a resource", () => {
  it("are left out one by one where there are few", () => {
    const { left, diagnostics } = judging([...many("good", 3), ...many("bad", 2)]);
    expect(left).toEqual(["good", "good", "good"]);
    expect(diagnostics.length).toBe(2);
  });

  it("are left out by EnvoyFilter where a search for each would cost the square of them", () => {
    const { left, diagnostics, applied } = judging([...many("first", 100), ...many("bad", 500), ...many("last", 100)]);
    expect(applied).toBeLessThan(1_000);
    expect(new Set(left)).toEqual(new Set(["first", "last"]));
    expect(left.length).toBe(200);
    expect(diagnostics.map(({ code, origin, message }) => [code, origin.key.name, message])).toEqual([
      [
        "envoy-filter-refused",
        "bad",
        "Envoy would refuse the listener l: breach spec.configPatches.0; so this patch and 499 others are left out there: too many to try each of them",
      ],
    ]);
  });
});
