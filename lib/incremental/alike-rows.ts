/** By column, then by row. */
export type Table = readonly (readonly unknown[])[];

/** Whether a row of one table says the same as one of another that has as many columns. */
export function isSameRow(a: Table, i: number, b: Table, j: number): boolean {
  for (let at = 0; at < b.length; at++) if (!Object.is(a[at]?.[i], b[at]?.[j])) return false;
  return true;
}

/** Whether rows that were alike have the same in a column. @param alike for each row the first one that it was alike to */
export function isSameWithin(column: readonly unknown[], alike: readonly number[]): boolean {
  for (let row = 0; row < alike.length; row++) if (!Object.is(column[row], column[alike[row] ?? row])) return false;
  return true;
}

/** Whether a column tells all rows apart that are not alike. @param alike as above */
export function tellsApart(column: readonly unknown[], alike: readonly number[]): boolean {
  const values = new Set<unknown>();
  let firsts = 0;
  for (let row = 0; row < alike.length; row++) {
    if (alike[row] !== row) continue;
    firsts += 1;
    values.add(column[row]);
  }
  return values.size === firsts;
}

/** Some rows of a table, by what stands in their first column. */
export class RowIndex {
  readonly #table: Table;
  /** The row that came last, and before each row the one before it. */
  readonly #last = new Map<unknown, number>();
  readonly #before: (number | undefined)[] = [];

  constructor(table: Table) {
    this.#table = table;
  }

  add(at: number): void {
    const first = this.#table[0]?.[at];
    this.#before[at] = this.#last.get(first);
    this.#last.set(first, at);
  }

  /** The row among them that is like one of another table of the same columns. */
  find(table: Table, at: number): number | undefined {
    let row = this.#last.get(table[0]?.[at]);
    while (row !== undefined && !isSameRow(this.#table, row, table, at)) row = this.#before[row];
    return row;
  }
}
