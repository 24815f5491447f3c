import { CacheEntries, type EntryName } from "./cache-entries.ts";
import { type Cell, cellAt, unknownYet } from "./cell.ts";
import { changedIndexes } from "./list-delta.ts";
import { type Memo, numberOf } from "./memo.ts";
import { objectNumber } from "./object-number.ts";
import { plainPart } from "./plain-text.ts";
import { sameElements } from "./same-elements.ts";
import { touch, Use } from "./use.ts";

const listEntries = new CacheEntries<readonly (readonly unknown[])[]>("lists");
const mapEntries = new CacheEntries<ReadonlyMap<string, unknown>>("map");

/**
 * Lists of one kind: what it returns is the list made last in an entry if it had the same elements, else the given list. What is made from a
 * list can be remembered by the list's identity then, and stays as long as its elements do. The result always equals the given list, whatever
 * the entry: two users of one entry cost each other their memory and nothing else.
 *
 * @param kind no other may have it
 * @param alike whether two elements say the same; as a rule only one object does
 */
export function listKeeper<T>(
  kind: string,
  alike: (last: T, element: T) => boolean = Object.is,
): (memo: Memo, entry: EntryName, list: readonly T[]) => readonly T[] {
  const kept = new CacheEntries<Kept<T>>(kind);
  return (memo, entry, list) => lastOrNew(kept, alike, memo, { entry, list });
}

function lastOrNew<T>(
  kept: CacheEntries<Kept<T>>,
  alike: (last: T, element: T) => boolean,
  memo: Memo,
  { entry, list }: { readonly entry: EntryName; readonly list: readonly T[] },
): readonly T[] {
  const last = kept.last(memo, entry);
  // What was given last says the same as what was kept: the new list does if it does so where it differs.
  const places = last === undefined ? undefined : changedIndexes(last.given, list);
  const isSame =
    last !== undefined && places?.every((at) => isAlike(alike, last.list[at] as T, list[at] as T)) === true;
  const now = { list: isSame ? last.list : list, given: list };
  if (now.given !== last?.given) kept.keep(memo, entry, now);
  return now.list;
}

const isAlike = <T>(alike: (last: T, element: T) => boolean, last: T, element: T): boolean =>
  Object.is(last, element) || alike(last, element);

interface Kept<T> {
  readonly list: readonly T[];
  /** The last one that had the same elements. */
  readonly given: readonly T[];
}

const listsByName = listKeeper<unknown>("list");

/** As `listKeeper`, under a name that no other list has; of one name one type of elements. */
export const keepList = <T>(memo: Memo, name: string, list: readonly T[]): readonly T[] =>
  listsByName(memo, name, list) as readonly T[];

const lists = numberOf("one list");
const values = numberOf("one value");

/** The one list without elements. */
const nothing: readonly never[] = [];

/** Lists that are alike at first sight, of which those are remembered that were used last. */
const maxAlike = 8;

/**
 * As `keepList`, where many are made under one name: any of those in use that has the same elements. For long lists that are as a
 * rule the same for all who make one.
 */
export function internLongList<T>(memo: Memo, name: string, list: readonly T[]): readonly T[] {
  const entry = `${name}|${list.length}|${idOf(list[0])}|${idOf(list.at(-1))}`;
  const alike = (listEntries.last(memo, entry) ?? []) as readonly (readonly T[])[];
  const one = alike.find((other) => sameElements(other, list)) ?? list;
  if (one !== alike[0])
    listEntries.keep(memo, entry, [one, ...alike.filter((other) => other !== one)].slice(0, maxAlike));
  return one;
}

const idOf = (element: unknown): unknown =>
  typeof element === "object" && element !== null ? objectNumber(element) : element;

/** As `keepList`, for a map: the one made last under this name if it had the same entries in the same order. */
export function keepMap<T>(memo: Memo, name: string, map: ReadonlyMap<string, T>): ReadonlyMap<string, T> {
  const last = mapEntries.last(memo, name) as ReadonlyMap<string, T> | undefined;
  if (last !== undefined && hasSameEntries(last, map)) return last;
  mapEntries.keep(memo, name, map);
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
 * of some dozens; a list of thousands is better kept under a name (`keepList`).
 */
export function internList<T extends object>({ known }: Memo, list: readonly T[]): readonly T[] {
  if (known === undefined) return list;
  if (list.length === 0) return nothing;
  // A cell has the type of what leads to it.
  return keptIn(cellAt(known, lists, [...list, end]), list) as readonly T[];
}

/**
 * The one object with this value: a plain value that is asked for often can be an input that counts by identity. Its text is made
 * each time, and soonest of an object whose fields stand in the order of their names.
 */
export function internValue<T extends object>({ known }: Memo, value: T): T {
  if (known === undefined) return value;
  const cell = cellAt(known, values, [plainPart(value)]);
  cell.use ??= new Use(known.generation);
  touch(known, cell.use);
  return keptIn(cell, value) as T;
}

/** Stands behind the last element: no list is the beginning of another then. */
const end: object = Object.freeze({});

function keptIn(cell: Cell, value: unknown): unknown {
  if (cell.value === unknownYet) cell.value = value;
  return cell.value;
}
