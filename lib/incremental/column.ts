import { isSameRow, isSameWithin, RowIndex, type Table, tellsApart } from "./alike-rows.ts";
import { CacheEntries, type EntryName } from "./cache-entries.ts";
import type { Memo } from "./memo.ts";
import { sameElements } from "./same-elements.ts";
import { type Use, withUse } from "./use.ts";

/**
 * A column of a table, made of others: one value for each row, from what stands in that row. A row that is what it was keeps what was
 * made of it, for one comparison a field; rows that are made anew and are alike are made once; and the whole column stays the same
 * object if all of it does.
 *
 * Like a query, a column stands at the top level of its module, and `make` sees the row and nothing else. Texts and numbers in a row
 * count by what they say, objects by identity.
 *
 * @param fields of a row; the first is the one that tells most rows apart
 */
export function column<R extends object, T>(
  name: string,
  fields: readonly (keyof R)[],
  make: (row: R, memo: Memo) => T,
): Column<R, T> {
  const maker: Maker<R, T> = { fields, make, tables: new CacheEntries(`column ${name}`) };
  return (memo, entry, columns) => columnBy(maker, memo, entry, columns);
}

interface Maker<R extends object, T> {
  readonly fields: readonly (keyof R)[];
  readonly make: (row: R, memo: Memo) => T;
  /** What was made last. */
  readonly tables: CacheEntries<Made<T>>;
}

/** One function for all, as of queries. */
function columnBy<R extends object, T>(
  maker: Maker<R, T>,
  memo: Memo,
  entry: EntryName,
  columns: Columns<R>,
): readonly T[] {
  const { fields, tables } = maker;
  const table = fields.map((field) => columns[field]);
  const made = madeOf(maker, memo, table, tables.last(memo, entry));
  tables.keep(memo, entry, made, made.uses);
  return made.values;
}

/** A table, and what was made of it. */
interface Made<T> {
  readonly table: Table;
  readonly values: readonly T[];
  /** For each row the first one that it was made with, since they are alike. */
  readonly alike: readonly number[];
  /** What each of these first ones was made with. */
  readonly uses: Uses;
  /** Whether the first column tells all others apart; undefined as long as nobody has asked. */
  readonly isTold?: boolean | undefined;
}

type Uses = readonly (Use | undefined)[];

function madeOf<R extends object, T>(maker: Maker<R, T>, memo: Memo, table: Table, last: Made<T> | undefined): Made<T> {
  if (last === undefined || last.alike.length !== table[0]?.length) return madeAnew(maker, memo, table, last);
  // Most fields of most changes are the same for all rows: the rows are compared in the others.
  const differing = [...table.keys()].filter((at) => !sameElements(last.table[at] ?? none, table[at] ?? none));
  if (differing.length === 0) return { ...last, table };
  const areStillAlike = differing.every((at) => isSameWithin(table[at] ?? none, last.alike));
  return areStillAlike ? madeOfFirsts(maker, memo, table, last, differing) : madeAnew(maker, memo, table, last);
}

/** Rows that were alike still are: of these the first is looked at. */
function madeOfFirsts<R extends object, T>(
  { fields, make }: Maker<R, T>,
  memo: Memo,
  table: Table,
  last: Made<T>,
  differing: readonly number[],
): Made<T> {
  const then = differing.map((at) => last.table[at] ?? none);
  const now = differing.map((at) => table[at] ?? none);
  const isTold = differing[0] === 0 ? undefined : (last.isTold ?? tellsApart(table[0] ?? none, last.alike));
  const anew = isTold === true ? undefined : new RowIndex(table);
  const becameAlike = new Map<number, number>();
  // Most columns of most changes stay as they are.
  let changed: T[] | undefined;
  let uses: (Use | undefined)[] | undefined;
  const valueAt = (at: number): T => (changed ?? last.values)[at] as T;
  const put = (at: number, value: T): void => {
    if (Object.is(valueAt(at), value)) return;
    changed ??= last.values.slice();
    changed[at] = value;
  };
  for (let at = 0; at < last.alike.length; at++) {
    const first = last.alike[at] ?? at;
    if (first !== at) put(at, valueAt(first));
    else if (!isSameRow(then, at, now, at)) {
      const alike = anew?.find(table, at);
      if (alike === undefined) anew?.add(at);
      else becameAlike.set(at, alike);
      uses ??= last.uses.slice();
      if (alike === undefined) {
        const made = withUse(memo.known, () => make(rowOf(fields, table, at), memo));
        uses[at] = made.use;
        put(at, made.value);
      } else {
        uses[at] = undefined;
        put(at, valueAt(alike));
      }
    }
  }
  const alike = becameAlike.size === 0 ? last.alike : last.alike.map((first) => becameAlike.get(first) ?? first);
  return { table, values: changed ?? last.values, alike, uses: uses ?? last.uses, isTold };
}

function madeAnew<R extends object, T>(
  { fields, make }: Maker<R, T>,
  memo: Memo,
  table: Table,
  last: Made<T> | undefined,
): Made<T> {
  const rows = table[0]?.length ?? 0;
  // Of a single row there is no other.
  const anew = rows > 1 ? new RowIndex(table) : undefined;
  const before = last?.table ?? [];
  const rowsBefore = last?.alike.length ?? 0;
  // Rows may stand elsewhere where others came or went; else the few that moved are made.
  const moved = rowsBefore > 0 && rowsBefore !== rows ? new RowIndex(before) : undefined;
  if (moved !== undefined) for (let at = 0; at < rowsBefore; at++) moved.add(at);
  /** Of rows that were made together before, the first that is kept. */
  const kept: number[] = [];
  const alike: number[] = [];
  const values: T[] = [];
  const uses: (Use | undefined)[] = [];
  const keep = (at: number, from: number): void => {
    const first = last?.alike[from] ?? from;
    uses.push(kept[first] === undefined ? last?.uses[first] : undefined);
    kept[first] ??= at;
    alike.push(kept[first]);
    values.push(last?.values[from] as T);
  };
  for (let at = 0; at < rows; at++) {
    if (at < rowsBefore && isSameRow(before, at, table, at)) {
      keep(at, at);
      continue;
    }
    const first = anew?.find(table, at);
    const from = first === undefined ? moved?.find(table, at) : undefined;
    if (from !== undefined) keep(at, from);
    else {
      alike.push(first ?? at);
      if (first === undefined) {
        anew?.add(at);
        const made = withUse(memo.known, () => make(rowOf(fields, table, at), memo));
        uses.push(made.use);
        values.push(made.value);
      } else {
        uses.push(undefined);
        values.push(values[first] as T);
      }
    }
  }
  return { table, values: last !== undefined && sameElements(last.values, values) ? last.values : values, alike, uses };
}

/**
 * @param entry tells columns of one kind over several tables apart; it decides what is found again, never what comes out
 * @param columns of one length
 * @returns as long as these
 */
export type Column<R extends object, T> = (memo: Memo, entry: EntryName, columns: Columns<R>) => readonly T[];

type Columns<R extends object> = { readonly [K in keyof R]: readonly R[K][] };

const none: readonly unknown[] = [];

function rowOf<R extends object>(fields: readonly (keyof R)[], table: Table, at: number): R {
  const row: Partial<Record<keyof R, unknown>> = {};
  for (let field = 0; field < fields.length; field++) row[fields[field] as keyof R] = table[field]?.[at];
  // Every field is a field of the row.
  return row as R;
}
