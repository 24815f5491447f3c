import { describe, expect, it } from "vitest";
import { beginRevision } from "../../lib/incremental/cache-entries.ts";
import { keepList, keepMap, listKeeper } from "../../lib/incremental/keep-identity.ts";
import { createMemo, noMemo } from "../../lib/incremental/memo.ts";

const a = {};
const b = {};

describe("a list under a name", () => {
  it("stays the same object as long as its elements do", () => {
    const memo = createMemo();
    const first = keepList(memo, "n", [a, b]);
    expect(keepList(memo, "n", [a, b])).toBe(first);
    expect(keepList(memo, "other", [a, b])).not.toBe(first);
    expect(keepList(memo, "n", [b, a])).toEqual([b, a]);
    expect(keepList(memo, "n", [a, b])).not.toBe(first);
  });

  it("is the given one without a memory", () => {
    const list = [a];
    keepList(noMemo, "n", [a]);
    expect(keepList(noMemo, "n", list)).toBe(list);
  });

  it("is forgotten when it was not asked for in many rounds", () => {
    const memo = createMemo();
    const kept = keepList(memo, "kept", [a]);
    const left = keepList(memo, "left", [a]);
    for (let round = 0; round < 200; round += 1) {
      beginRevision(memo);
      expect(keepList(memo, "kept", [a])).toBe(kept);
    }
    expect(keepList(memo, "left", [a])).not.toBe(left);
  });
});

it("a map under a name stays the same object as long as its entries do", () => {
  const memo = createMemo();
  const first = keepMap(memo, "n", new Map([["a", a]]));
  expect(keepMap(memo, "n", new Map([["a", a]]))).toBe(first);
  expect(keepMap(memo, "n", new Map([["a", b]]))).toEqual(new Map([["a", b]]));
  expect(keepMap(memo, "n", new Map())).not.toBe(first);
});

it("a list whose elements only say the same is kept where that is enough", () => {
  const memo = createMemo();
  const kept = listKeeper("test: alike", (last: { n: number }, element: { n: number }) => last.n === element.n);
  const first = kept(memo, "n", [{ n: 1 }]);
  expect(kept(memo, "n", [{ n: 1 }])).toBe(first);
  expect(kept(memo, "n", [{ n: 2 }])).toEqual([{ n: 2 }]);
});
