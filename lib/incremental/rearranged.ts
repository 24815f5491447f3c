/** Columns whose rows are put elsewhere: each stays the same object as long as it is made of the same. */

import { CacheEntries, type EntryName } from "./cache-entries.ts";
import type { Memo } from "./memo.ts";
import { query } from "./query.ts";

type List = readonly unknown[];

/** The values of some rows, in the order of `rows`. */
export const valuesOf = <T>(memo: Memo, column: readonly T[], rows: readonly number[]): readonly T[] =>
  valuesOfRows(memo, { column, rows }) as readonly T[];

const valuesOfRows = query(
  "values of rows",
  ({ column, rows }: { readonly column: List; readonly rows: readonly number[] }): List =>
    rows.map((row) => column[row]),
);

/** One value in all rows. @param entry finds the column of before; it never decides what comes out */
export function forAll<T>(memo: Memo, entry: EntryName, value: T, rows: number): readonly T[] {
  const last = constants.last(memo, entry);
  if (last !== undefined && last.length === rows && Object.is(last[0], value)) return last as readonly T[];
  const column = Array.from({ length: rows }, () => value);
  constants.keep(memo, entry, column);
  return column;
}

const constants = new CacheEntries<List>("columns of one value");

/** One column below the other. */
export const appended = <T>(memo: Memo, first: readonly T[], second: readonly T[]): readonly T[] =>
  bothColumns(memo, { first, second }) as readonly T[];

const bothColumns = query(
  "columns below each other",
  ({ first, second }: { readonly first: List; readonly second: List }): List => [...first, ...second],
);

/** Values of some rows of a table, and which rows these are. */
export interface SomeRows<T> {
  readonly rows: readonly number[];
  readonly values: readonly T[];
}

/** A column of a table whose rows are parted: each value comes to its row. */
export const together = <T>(memo: Memo, first: SomeRows<T>, second: SomeRows<T>): readonly T[] => {
  if (second.rows.length === 0) return first.values;
  if (first.rows.length === 0) return second.values;
  const inputs = { firstRows: first.rows, secondRows: second.rows, first: first.values, second: second.values };
  return partsTogether(memo, inputs) as readonly T[];
};

interface Parts {
  readonly firstRows: readonly number[];
  readonly secondRows: readonly number[];
  readonly first: List;
  readonly second: List;
}

const partsTogether = query("parts of a column together", ({ firstRows, secondRows, first, second }: Parts): List => {
  const column: unknown[] = Array.from({ length: firstRows.length + secondRows.length });
  for (const [at, row] of firstRows.entries()) column[row] = first[at];
  for (const [at, row] of secondRows.entries()) column[row] = second[at];
  return column;
});
