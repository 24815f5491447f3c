import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { column } from "../../lib/incremental/column.ts";
import { createMemo, type Memo, noMemo } from "../../lib/incremental/memo.ts";

interface Row {
  readonly name: string;
  readonly count: number;
}

/** Rows that were made, in order. */
const made: Row[] = [];
const texts = column("texts of a test", ["name", "count"], (row: Row): { readonly text: string } => {
  made.push(row);
  return { text: `${row.name}:${row.count}` };
});

const of = (rows: readonly Row[], memo: Memo, slot = "") =>
  texts(memo, slot, { name: rows.map(({ name }) => name), count: rows.map(({ count }) => count) });

function madeFor(work: () => unknown): number {
  made.length = 0;
  work();
  return made.length;
}

const rows: readonly Row[] = [
  { name: "a", count: 1 },
  { name: "b", count: 2 },
  { name: "c", count: 3 },
];

describe("a column", () => {
  it("has one value for each row, the same as without a memory", () => {
    const memo = createMemo();
    const row = fc.record({ name: fc.constantFrom("a", "b", "c", "d"), count: fc.nat(2) });
    fc.assert(
      fc.property(fc.array(row), (some) => {
        expect(of(some, memo)).toEqual(of(some, noMemo));
      }),
    );
  });

  it("is the same object as long as its rows are", () => {
    const memo = createMemo();
    const first = of(rows, memo);
    expect(of([...rows], memo)).toBe(first);
    expect(of([], memo)).toEqual([]);
  });

  it("makes a row that changed, and no other", () => {
    const memo = createMemo();
    const [a, , c] = of(rows, memo);
    expect(madeFor(() => of(rows.with(1, { name: "b", count: 5 }), memo))).toBe(1);
    const after = of(rows.with(1, { name: "b", count: 6 }), memo);
    expect([after[0], after[2]].map((value, at) => value === [a, c][at])).toEqual([true, true]);
  });

  it("makes rows that are alike once", () => {
    expect(madeFor(() => of([...rows, ...rows], noMemo))).toBe(3);
  });

  it("goes on making rows once as they become alike, part, and change together", () => {
    const memo = createMemo();
    const counts = (...all: readonly number[]) => all.map((count) => ({ name: "a", count }));
    of(counts(1, 1, 2, 2), memo);
    expect(madeFor(() => of(counts(3, 3, 4, 4), memo))).toBe(2);
    expect(madeFor(() => of(counts(5, 5, 5, 5), memo))).toBe(1);
    expect(madeFor(() => of(counts(6, 6, 6, 6), memo))).toBe(1);
    expect(madeFor(() => of(counts(6, 7, 6, 7), memo))).toBe(1);
    expect(of(counts(8, 9, 8, 9), memo).map(({ text }) => text)).toEqual(["a:8", "a:9", "a:8", "a:9"]);
  });

  it("keeps rows that stand elsewhere because others came or went", () => {
    const memo = createMemo();
    of(rows, memo);
    expect(madeFor(() => of([{ name: "0", count: 0 }, ...rows], memo))).toBe(1);
    expect(madeFor(() => of(rows.slice(1), memo))).toBe(0);
  });
});
