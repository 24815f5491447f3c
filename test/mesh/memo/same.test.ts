import { describe, expect, it } from "vitest";
import { createMemo, noMemo } from "../../../lib/mesh/memo/memo.ts";
import { keptLists, sameList, sameMap } from "../../../lib/mesh/memo/same.ts";
import { beginRound } from "../../../lib/mesh/memo/slots.ts";

const a = {};
const b = {};

describe("a list under a name", () => {
  it("stays the same object as long as its elements do", () => {
    const memo = createMemo();
    const first = sameList(memo, "n", [a, b]);
    expect(sameList(memo, "n", [a, b])).toBe(first);
    expect(sameList(memo, "other", [a, b])).not.toBe(first);
    expect(sameList(memo, "n", [b, a])).toEqual([b, a]);
    expect(sameList(memo, "n", [a, b])).not.toBe(first);
  });

  it("is the given one without a memory", () => {
    const list = [a];
    sameList(noMemo, "n", [a]);
    expect(sameList(noMemo, "n", list)).toBe(list);
  });

  it("is forgotten when it was not asked for in many rounds", () => {
    const memo = createMemo();
    const kept = sameList(memo, "kept", [a]);
    const left = sameList(memo, "left", [a]);
    for (let round = 0; round < 200; round += 1) {
      beginRound(memo);
      expect(sameList(memo, "kept", [a])).toBe(kept);
    }
    expect(sameList(memo, "left", [a])).not.toBe(left);
  });
});

it("a map under a name stays the same object as long as its entries do", () => {
  const memo = createMemo();
  const first = sameMap(memo, "n", new Map([["a", a]]));
  expect(sameMap(memo, "n", new Map([["a", a]]))).toBe(first);
  expect(sameMap(memo, "n", new Map([["a", b]]))).toEqual(new Map([["a", b]]));
  expect(sameMap(memo, "n", new Map())).not.toBe(first);
});

it("a list whose elements only say the same is kept where that is enough", () => {
  const memo = createMemo();
  const kept = keptLists("test: alike", (last: { n: number }, element: { n: number }) => last.n === element.n);
  const first = kept(memo, "n", [{ n: 1 }]);
  expect(kept(memo, "n", [{ n: 1 }])).toBe(first);
  expect(kept(memo, "n", [{ n: 2 }])).toEqual([{ n: 2 }]);
});
