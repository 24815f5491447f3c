import { type Cell, cellAt, type LastMade, type Memo, numberOf, unknownYet } from "./memo.ts";
import { plainPart } from "./plain-text.ts";

/** Compiles after which what nobody asked for again is forgotten. */
const retainedRounds = 64;

/** Begins a compile: names that went out of use long ago (classes of workloads that are gone) give up what they hold. */
export function beginRound({ known }: Memo): void {
  if (known === undefined) return;
  known.round += 1;
  if (known.round % retainedRounds !== 0) return;
  for (const [name, made] of known.last) {
    if (made.usedInRound < known.round - retainedRounds) known.last.delete(name);
  }
}

/** What was made last under a name, which stands for one type of value; marks it as used. */
export function lastMade<T>({ known }: Memo, name: string): T | undefined {
  const made: LastMade | undefined = known?.last.get(name);
  if (known !== undefined && made !== undefined) made.usedInRound = known.round;
  return made?.value as T | undefined;
}

export function keepLast({ known }: Memo, name: string, value: unknown): void {
  known?.last.set(name, { value, usedInRound: known.round });
}

/**
 * The list made last under this name if it had the same elements, else the given list. What is made from a list can be
 * remembered by the list's identity then, and stays as long as its elements do. The result always equals `list`, whatever
 * the name: two users of one name cost each other their memory and nothing else.
 *
 * @param alike whether two elements say the same; as a rule only one object does
 */
export function sameList<T>(
  memo: Memo,
  name: string,
  list: readonly T[],
  alike: (last: T, element: T) => boolean = Object.is,
): readonly T[] {
  const last = lastMade<readonly T[]>(memo, `list|${name}`);
  if (last !== undefined && isSame(last, list, alike)) return last;
  keepLast(memo, `list|${name}`, list);
  return list;
}

const lists = numberOf("one list");
const values = numberOf("one value");

/** The one list without elements. */
const nothing: readonly never[] = [];

/** Lists that are remembered under one name. */
const maxLists = 32;

/**
 * As `sameList`, where many are made under one name: any of those made last that has the same elements. For long lists that are as a
 * rule the same for all who make one.
 */
export function oneOfLists<T>(memo: Memo, name: string, list: readonly T[]): readonly T[] {
  const lists = lastMade<readonly (readonly T[])[]>(memo, `lists|${name}`) ?? [];
  const same = lists.find((one) => isSame(one, list));
  if (same !== undefined) return same;
  keepLast(memo, `lists|${name}`, [list, ...lists.slice(0, maxLists - 1)]);
  return list;
}

/** Whether two lists have the same elements. */
export function isSame<T>(
  last: readonly T[],
  list: readonly T[],
  alike: (last: T, element: T) => boolean = Object.is,
): boolean {
  if (last === list) return true;
  if (last.length !== list.length) return false;
  for (let at = 0; at < list.length; at++) if (!alike(last[at] as T, list[at] as T)) return false;
  return true;
}

/** As `sameList`, for a map: the one made last under this name if it had the same entries in the same order. */
export function sameMap<T>(memo: Memo, name: string, map: ReadonlyMap<string, T>): ReadonlyMap<string, T> {
  const last = lastMade<ReadonlyMap<string, T>>(memo, `map|${name}`);
  if (last !== undefined && hasSameEntries(last, map)) return last;
  keepLast(memo, `map|${name}`, map);
  return map;
}

function hasSameEntries<T>(last: ReadonlyMap<string, T>, map: ReadonlyMap<string, T>): boolean {
  if (last === map) return true;
  if (last.size !== map.size) return false;
  const before = last.entries();
  for (const [key, value] of map) {
    const entry = before.next();
    if (entry.done === true || entry.value[0] !== key || entry.value[1] !== value) return false;
  }
  return true;
}

/**
 * The one list with these elements: a list that counts by its elements can be an input that counts by identity. For lists
 * of some dozens; a list of thousands is better kept under a name (`sameList`).
 */
export function oneList<T extends object>({ known }: Memo, list: readonly T[]): readonly T[] {
  if (known === undefined) return list;
  if (list.length === 0) return nothing;
  // A cell has the type of what leads to it.
  return keptIn(cellAt(known, lists, [...list, end]), list) as readonly T[];
}

/**
 * The one object with this value: a plain value that is asked for often can be an input that counts by identity. Its text is made
 * each time, and soonest of an object whose fields stand in the order of their names.
 */
export function oneValue<T extends object>({ known }: Memo, value: T): T {
  return known === undefined ? value : (keptIn(cellAt(known, values, [plainPart(value)]), value) as T);
}

/** Stands behind the last element: no list is the beginning of another then. */
const end: object = Object.freeze({});

function keptIn(cell: Cell, value: unknown): unknown {
  if (cell.value === unknownYet) cell.value = value;
  return cell.value;
}
