import { describe, expect, it } from "vitest";
import { isNonEmptySubset, isSubset, sameLabels } from "../../../lib/config/values/labels.ts";

describe("labels", () => {
  it.each([
    { part: {}, whole: { a: "1" }, within: true, chosen: false },
    { part: {}, whole: {}, within: true, chosen: false },
    { part: { a: "1" }, whole: { a: "1", b: "2" }, within: true, chosen: true },
    { part: { a: "1", b: "2" }, whole: { a: "1" }, within: false, chosen: false },
    { part: { a: "2" }, whole: { a: "1" }, within: false, chosen: false },
  ])(
    "take $whole by $part: as a policy's selector $within, as a service's $chosen",
    ({ part, whole, within, chosen }) => {
      expect(isSubset(part, whole)).toBe(within);
      expect(isNonEmptySubset(part, whole)).toBe(chosen);
    },
  );

  it("are in no service without a selector", () => {
    expect(isNonEmptySubset(undefined, { a: "1" })).toBe(false);
  });

  it.each([
    [{ a: "1", b: "2" }, { b: "2", a: "1" }, true],
    [{ a: "1" }, { a: "1", b: "2" }, false],
    [{ a: "1", b: "2" }, { a: "1" }, false],
    [{ a: "1" }, { b: "1" }, false],
  ])("%j and %j are the same: %s", (a, b, same) => {
    expect(sameLabels(a, b)).toBe(same);
  });
});
