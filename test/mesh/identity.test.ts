import { describe, expect, it } from "vitest";
import { beginRound, sameList, sameMap } from "../../lib/mesh/identity.ts";
import { createMemo, noMemo } from "../../lib/mesh/memo.ts";

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
