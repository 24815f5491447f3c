import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { plainText } from "../../lib/incremental/plain-text.ts";
import { propertyRuns } from "../soak-options.ts";

describe("the text of a plain value", () => {
  it("is the same for equal values and another for different ones", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (a, b) => {
        expect(plainText(structuredClone(a))).toBe(plainText(a));
        const equal = JSON.stringify(sorted(a)) === JSON.stringify(sorted(b));
        expect(plainText(a) === plainText(b)).toBe(equal);
      }),
      { numRuns: propertyRuns(2000) },
    );
  });

  it.each([
    [["a,b"], ["a", "b"]],
    [{ a: "1" }, { a: 1 }],
    [
      ["ab", "c"],
      ["a", "bc"],
    ],
    [null, undefined],
    [[], {}],
    ["1", 1],
  ])("tells %j from %j", (a, b) => {
    expect(plainText(a)).not.toBe(plainText(b));
  });

  it("refuses what counts by identity", () => {
    expect(() => plainText(new Map())).toThrow("no plain value");
    expect(() => plainText(() => 0)).toThrow("no plain value");
  });
});

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return Object.is(value, -0) ? 0 : value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, of]) => [key, sorted(of)]),
  );
}
