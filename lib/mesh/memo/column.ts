import type { Memo } from "./memo.ts";
import { isSame } from "./same.ts";
import { type Slot, Slots } from "./slots.ts";

/**
 * A column of a table, made of others: one value for each row, from what stands in that row. A row that is what it was keeps what was
 * made of it, for one comparison a field; rows that are made anew and are alike are made once; and the whole column stays the same
 * object if all of it does.
 *
 * Like a step, a column stands at the top level of its module, and `make` sees the row and nothing else. Texts and numbers in a row
 * count by what they say, objects by identity.
 *
 * @param fields of a row; the first is the one that tells most rows apart
 */
export function column<R extends object, T>(
  name: string,
  fields: readonly (keyof R)[],
  make: (row: R, memo: Memo) => T,
): Column<R, T> {
  const maker: Maker<R, T> = { fields, make, tables: new Slots(`column ${name}`) };
  return (memo, slot, columns) => columnBy(maker, memo, slot, columns);
}

interface Maker<R extends object, T> {
  readonly fields: readonly (keyof R)[];
  readonly make: (row: R, memo: Memo) => T;
  /** What was made last. */
  readonly tables: Slots<Made<R, T>>;
}

/** One function for all, as of steps. */
function columnBy<R extends object, T>(maker: Maker<R, T>, memo: Memo, slot: Slot, columns: Columns<R>): readonly T[] {
  const { fields, make, tables } = maker;
  const last = tables.last(memo, slot);
  const rows = columns[fields[0] as keyof R].length;
  const made =
    last === undefined && rows === 1 ? [make(rowOf(fields, columns, 0), memo)] : rowsOf(maker, memo, columns, last);
  tables.keep(memo, slot, { columns, made });
  return made;
}

const tableOf = <R extends object>(fields: readonly (keyof R)[], columns: Columns<R>): Table =>
  fields.map((field) => columns[field]);

function rowsOf<R extends object, T>(
  { fields, make }: Maker<R, T>,
  memo: Memo,
  columns: Columns<R>,
  last: Made<R, T> | undefined,
): readonly T[] {
  const table = tableOf(fields, columns);
  const rows = table[0]?.length ?? 0;
  const before = last === undefined ? [] : tableOf(fields, last.columns);
  // Most fields of most changes are the same for all rows: the rows are compared in the others.
  const differing = fields.map((_, at) => at).filter((at) => !isSame(before[at] ?? none, table[at] ?? none));
  if (last !== undefined && differing.length === 0) return last.made;
  const then = differing.map((at) => before[at] ?? none);
  const now = differing.map((at) => table[at] ?? none);
  const rowsBefore = last?.made.length ?? 0;
  const made: T[] = [];
  // Of a single row there is no other, neither here nor elsewhere.
  const anew = rows > 1 ? new RowIndex(table) : undefined;
  // Rows may stand elsewhere where others came or went; else the few that moved are made.
  const moved = rowsBefore > 0 && rowsBefore !== rows ? new RowIndex(before) : undefined;
  if (moved !== undefined) for (let at = 0; at < rowsBefore; at++) moved.add(at);
  for (let at = 0; at < rows; at++) {
    if (last !== undefined && at < rowsBefore && isSameRow(then, at, now, at)) {
      made.push(last.made[at] as T);
      continue;
    }
    const [alike, elsewhere] = [anew?.find(table, at), moved?.find(table, at)];
    if (alike !== undefined) made.push(made[alike] as T);
    else if (last !== undefined && elsewhere !== undefined) made.push(last.made[elsewhere] as T);
    else {
      made.push(make(rowOf(fields, columns, at), memo));
      anew?.add(at);
    }
  }
  return last !== undefined && isSame(last.made, made) ? last.made : made;
}

/**
 * @param slot tells columns of one kind over several tables apart; it decides what is found again, never what comes out
 * @param columns of one length
 * @returns as long as these
 */
export type Column<R extends object, T> = (memo: Memo, slot: Slot, columns: Columns<R>) => readonly T[];

type Columns<R extends object> = { readonly [K in keyof R]: readonly R[K][] };

/** By column, then by row. */
type Table = readonly (readonly unknown[])[];

const none: readonly unknown[] = [];

interface Made<R extends object, T> {
  readonly columns: Columns<R>;
  readonly made: readonly T[];
}

function isSameRow(a: Table, i: number, b: Table, j: number): boolean {
  for (let at = 0; at < b.length; at++) if (!Object.is(a[at]?.[i], b[at]?.[j])) return false;
  return true;
}

function rowOf<R extends object>(fields: readonly (keyof R)[], columns: Columns<R>, at: number): R {
  const row: Partial<R> = {};
  for (const field of fields) row[field] = columns[field][at];
  // Every field is a field of the row.
  return row as R;
}

/** Some rows of a table, by what stands in their first column. */
class RowIndex {
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
