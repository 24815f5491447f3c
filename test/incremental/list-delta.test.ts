import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { changedIndexes, predecessorOf, withValues } from "../../lib/incremental/list-delta.ts";

/** As long as lists are that are noted. */
const long = Array.from({ length: 100 }, (_, at) => ({ at }));
const other = {};

/** What `changedIndexes` says, found by looking. */
const differing = (a: readonly unknown[], b: readonly unknown[]): readonly number[] =>
  [...a.keys()].filter((at) => a[at] !== b[at]);

describe("a list of which a few elements are others", () => {
  it("is another list, and says where it differs from the one it was made from", () => {
    const list = withValues<object>(long, [70, 3], [other, other]);
    expect(list).toEqual(long.map((element, at) => (at === 3 || at === 70 ? other : element)));
    expect(changedIndexes(long, list)).toEqual([3, 70]);
    expect(predecessorOf(list)).toEqual({ list: long, places: [3, 70] });
  });

  it("is itself where nothing comes to be another", () => {
    expect(withValues(long, [3, 4], long.slice(3, 5))).toBe(long);
    expect(predecessorOf(long)).toBeUndefined();
  });

  it("is looked for once, whoever made it", () => {
    const list = long.with(5, { at: -1 });
    expect(predecessorOf(list)).toBeUndefined();
    expect(changedIndexes(long, list)).toEqual([5]);
    expect(predecessorOf(list)?.list).toBe(long);
    expect(changedIndexes(long, list)).toBe(changedIndexes(long, list));
  });

  it("differs from a list of another length in no place that could be said", () => {
    expect(changedIndexes(long, long.slice(1))).toBeUndefined();
    expect(changedIndexes([], [])).toEqual([]);
  });

  it("differs where a look says so, whatever was asked before", () => {
    const lists = fc.array(
      fc.array(fc.tuple(fc.nat(99), fc.constantFrom(other, {}, long[1] ?? {})), { maxLength: 90 }),
      {
        maxLength: 6,
      },
    );
    fc.assert(
      fc.property(lists, fc.array(fc.tuple(fc.nat(6), fc.nat(6)), { maxLength: 12 }), (edits, asked) => {
        const made: (readonly object[])[] = [long];
        for (const edit of edits) {
          const places = [...new Map(edit).keys()];
          const values = [...new Map(edit).values()];
          made.push(withValues(made.at(-1) ?? long, places, values));
        }
        for (const [a, b] of asked) {
          const [before, after] = [made[a % made.length] ?? long, made[b % made.length] ?? long];
          const places = changedIndexes(before, after) ?? [];
          // It may name a place more, never one too few.
          expect(differing(before, after).every((at) => places.includes(at))).toBe(true);
          expect(places).toEqual(places.toSorted((x, y) => x - y));
        }
      }),
    );
  });
});
