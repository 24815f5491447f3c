import { changedPlaces } from "../../config/changed-places.ts";
import { sameElements } from "../../config/same-elements.ts";
import { type Cell, cellAt, unknownYet } from "./cell.ts";
import { type Memo, numberOf } from "./memo.ts";
import { plainPart } from "./plain-text.ts";
import { type Slot, Slots } from "./slots.ts";

const listsSlots = new Slots<readonly (readonly unknown[])[]>("lists");
const mapSlots = new Slots<ReadonlyMap<string, unknown>>("map");

/**
 * Lists of one kind: what it returns is the list made last in a slot if it had the same elements, else the given list. What is made from a
 * list can be remembered by the list's identity then, and stays as long as its elements do. The result always equals the given list, whatever
 * the slot: two users of one slot cost each other their memory and nothing else.
 *
 * @param kind no other may have it
 * @param alike whether two elements say the same; as a rule only one object does
 */
export function keptLists<T>(
  kind: string,
  alike: (last: T, element: T) => boolean = Object.is,
): (memo: Memo, slot: Slot, list: readonly T[]) => readonly T[] {
  const kept = new Slots<Kept<T>>(kind);
  return (memo, slot, list) => lastOrNew(kept, alike, memo, { slot, list });
}

function lastOrNew<T>(
  kept: Slots<Kept<T>>,
  alike: (last: T, element: T) => boolean,
  memo: Memo,
  { slot, list }: { readonly slot: Slot; readonly list: readonly T[] },
): readonly T[] {
  const last = kept.last(memo, slot);
  // What was given last says the same as what was kept: the new list does if it does so where it differs.
  const places = last === undefined ? undefined : changedPlaces(last.given, list);
  const isSame =
    last !== undefined && places?.every((at) => isAlike(alike, last.list[at] as T, list[at] as T)) === true;
  const now = { list: isSame ? last.list : list, given: list };
  if (now.given !== last?.given) kept.keep(memo, slot, now);
  return now.list;
}

const isAlike = <T>(alike: (last: T, element: T) => boolean, last: T, element: T): boolean =>
  Object.is(last, element) || alike(last, element);

interface Kept<T> {
  readonly list: readonly T[];
  /** The last one that had the same elements. */
  readonly given: readonly T[];
}

const listsByName = keptLists<unknown>("list");

/** As `keptLists`, under a name that no other list has; of one name one type of elements. */
export const sameList = <T>(memo: Memo, name: string, list: readonly T[]): readonly T[] =>
  listsByName(memo, name, list) as readonly T[];

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
  const same = lists.find((one) => sameElements(one, list));
  if (same !== undefined) return same;
  listsSlots.keep(memo, name, [list, ...lists.slice(0, maxLists - 1)]);
  return list;
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
  return keptIn(cellAt(known.roots, lists, [...list, end]), list) as readonly T[];
}

/**
 * The one object with this value: a plain value that is asked for often can be an input that counts by identity. Its text is made
 * each time, and soonest of an object whose fields stand in the order of their names.
 */
export function oneValue<T extends object>({ known }: Memo, value: T): T {
  return known === undefined ? value : (keptIn(cellAt(known.roots, values, [plainPart(value)]), value) as T);
}

/** Stands behind the last element: no list is the beginning of another then. */
const end: object = Object.freeze({});

function keptIn(cell: Cell, value: unknown): unknown {
  if (cell.value === unknownYet) cell.value = value;
  return cell.value;
}
