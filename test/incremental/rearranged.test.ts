import { describe, expect, it } from "vitest";
import { createMemo, noMemo } from "../../lib/incremental/memo.ts";
import { appended, forAll, together, valuesOf } from "../../lib/incremental/rearranged.ts";

const [a, b, c] = [{ of: "a" }, { of: "b" }, { of: "c" }];

describe("columns whose rows are put elsewhere", () => {
  it("have the values of the rows that are asked for, in that order, and stay the same object", () => {
    const memo = createMemo();
    const column = [a, b, c];
    const rows = [2, 0];
    const first = valuesOf(memo, column, rows);
    expect(first).toEqual([c, a]);
    expect(valuesOf(memo, column, rows)).toBe(first);
    expect(valuesOf(memo, [a, b, a], rows)).toEqual([a, a]);
    expect(valuesOf(noMemo, column, rows)).toEqual([c, a]);
  });

  it("stand below each other", () => {
    const memo = createMemo();
    const [first, second] = [[a], [b, c]];
    expect(appended(memo, first, second)).toEqual([a, b, c]);
    expect(appended(memo, first, second)).toBe(appended(memo, first, second));
  });

  it("come together by their rows, and are not copied where one has none", () => {
    const memo = createMemo();
    const parts = [
      { rows: [0, 2], values: [a, c] },
      { rows: [1], values: [b] },
    ] as const;
    expect(together(memo, parts[0], parts[1])).toEqual([a, b, c]);
    const none = { rows: [], values: [] };
    expect(together(memo, parts[0], none)).toBe(parts[0].values);
    expect(together(memo, none, parts[1])).toBe(parts[1].values);
  });

  it("of one value are the same as long as the value and their length are, whichever slot they come from", () => {
    const memo = createMemo();
    const first = forAll(memo, "x", a, 3);
    expect(first).toEqual([a, a, a]);
    expect(forAll(memo, "x", a, 3)).toBe(first);
    expect(forAll(memo, "x", b, 3)).toEqual([b, b, b]);
    expect(forAll(memo, "x", b, 2)).toEqual([b, b]);
    expect(forAll(memo, "x", b, 0)).toEqual([]);
    expect(forAll<object | undefined>(memo, "y", undefined, 2)).toEqual([undefined, undefined]);
  });
});
