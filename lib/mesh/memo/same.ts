import { type Cell, cellAt, type Known, type LastMade, type Memo, numberOf, unknownYet } from "./memo.ts";
import { plainPart } from "./plain-text.ts";

/** Compiles after which what nobody asked for again is forgotten. */
const retainedRounds = 64;

/** Begins a compile: names that went out of use long ago (classes of workloads that are gone) give up what they hold. */
export function beginRound({ known }: Memo): void {
  if (known === undefined) return;
  known.round += 1;
  if (known.round % retainedRounds !== 0) return;
  for (const slots of known.last) {
    for (const [slot, made] of slots ?? []) {
      if (made.usedInRound < known.round - retainedRounds) slots?.delete(slot);
    }
  }
}

/** What was made last in each slot of a kind. */
export interface Slots<T> {
  /** Marks it as used. */
  last(memo: Memo, slot: string): T | undefined;
  keep(memo: Memo, slot: string, value: T): void;
}

/** @param name of the kind; no other may have it */
export function slots<T>(name: string): Slots<T> {
  const number = numberOf(`last: ${name}`);
  const find = ({ last }: Known, slot: string): LastMade | undefined => last[number]?.get(slot);
  return {
    last({ known }, slot) {
      const made = known && find(known, slot);
      if (known === undefined || made === undefined) return undefined;
      made.usedInRound = known.round;
      // Nothing else is kept in slots of this kind.
      return made.value as T;
    },
    keep({ known }, slot, value) {
      if (known === undefined) return;
      const made = find(known, slot);
      if (made !== undefined) {
        made.value = value;
        made.usedInRound = known.round;
        return;
      }
      known.last[number] ??= new Map();
      known.last[number].set(slot, { value, usedInRound: known.round });
    },
  };
}

const listSlots = slots<readonly unknown[]>("list");
const listsSlots = slots<readonly (readonly unknown[])[]>("lists");
const mapSlots = slots<ReadonlyMap<string, unknown>>("map");

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
  // Of one name one type of elements.
  const last = listSlots.last(memo, name) as readonly T[] | undefined;
  if (last !== undefined && isSame(last, list, alike)) return last;
  listSlots.keep(memo, name, list);
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
  const lists = (listsSlots.last(memo, name) ?? []) as readonly (readonly T[])[];
  const same = lists.find((one) => isSame(one, list));
  if (same !== undefined) return same;
  listsSlots.keep(memo, name, [list, ...lists.slice(0, maxLists - 1)]);
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
  const last = mapSlots.last(memo, name) as ReadonlyMap<string, T> | undefined;
  if (last !== undefined && hasSameEntries(last, map)) return last;
  mapSlots.keep(memo, name, map);
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
