import { CacheEntries, type EntryName } from "./cache-entries.ts";
import { changedIndexes, withValues } from "./list-delta.ts";
import type { Memo } from "./memo.ts";
import { declared, type Exceptions, type InputReader } from "./query.ts";
import { sameElements, sameUntil } from "./same-elements.ts";
import { type Use, withUse } from "./use.ts";

/**
 * One result for each element of a long list. An element that reads what it read before keeps what was made of it, for the price of two
 * comparisons, and the whole list stays the same object if all of them do; whatever changed goes through `make`, which had
 * better remember by itself.
 *
 * Like a query, a mapped list stands at the top level of its module: `make` sees the element, what `read` gave for it, and the
 * context, whose inputs count for every element.
 */
export function mappedList<C extends object, E, I, T>(
  name: string,
  make: MakeElement<C, E, I, T>,
): MappedList<C, E, I, T>;
export function mappedList<C extends object, E, I, T>(
  name: string,
  exceptions: Exceptions<C>,
  make: MakeElement<C, E, I, T>,
): MappedList<C, E, I, T>;
export function mappedList<C extends object, E, I, T>(
  name: string,
  exceptions: Exceptions<C> | MakeElement<C, E, I, T>,
  made?: MakeElement<C, E, I, T>,
): MappedList<C, E, I, T> {
  const maker: Maker<C, E, I, T> = {
    ...declared(name, exceptions, made),
    lists: new CacheEntries(`mapped list ${name}`),
  };
  return (memo, entry, elements, context, read) => mapBy(maker, memo, entry, { elements, context, read });
}

type MakeElement<C extends object, E, I, T> = (element: E, read: I, context: C, memo: Memo) => T;

interface Maker<C extends object, E, I, T> {
  readonly reader: InputReader<C>;
  readonly make: MakeElement<C, E, I, T>;
  /** What was made last. */
  readonly lists: CacheEntries<Made<E, I, T>>;
}

interface Passed<C extends object, E, I> {
  readonly elements: readonly E[];
  readonly context: C;
  readonly read: ((element: E, at: number) => I) | undefined;
}

/** One function for all, as of queries. */
function mapBy<C extends object, E, I, T>(
  { reader, make, lists }: Maker<C, E, I, T>,
  memo: Memo,
  entry: EntryName,
  { elements, context, read }: Passed<C, E, I>,
): readonly T[] {
  const terms = reader.termsOf(context);
  const last = lists.last(memo, entry);
  const comparable = last !== undefined && sameElements<unknown>(last.terms, terms) ? last : undefined;
  const before = comparable ?? nothingMade;
  const known = before.elements.length;
  // Of nothing now, nor when they were made: another element is the only thing that makes a difference.
  const isOfItself = read === undefined && before.reads.length === 0;
  const places: number[] = [];
  const nows: I[] = [];
  const values: T[] = [];
  const uses: (Use | undefined)[] = [];
  const lookAt = (at: number): void => {
    const element = elements[at] as E;
    const isKnown = at < known && before.elements[at] === element;
    if (isKnown && isOfItself) return;
    const now = read?.(element, at) as I;
    if (isKnown && Object.is(before.reads[at], now)) return;
    places.push(at);
    nows.push(now);
    const { value, use } = withUse(memo.known, () => make(element, now, context, memo));
    values.push(value);
    uses.push(use);
  };
  // Elements that are made from nothing else are looked at where they are others.
  const moved = isOfItself && known > 0 ? changedIndexes(before.elements, elements) : undefined;
  if (moved !== undefined) for (const at of moved) lookAt(at);
  else {
    const begin = isOfItself ? sameUntil(before.elements, elements) : 0;
    // A plain loop that makes no lists: there are tens of thousands of elements, most of which are what they were.
    for (let at = begin; at < elements.length; at++) lookAt(at);
  }
  const reads = read === undefined ? [] : patched<I>(before.reads, elements.length, places, nows);
  const made = patched<T>(before.made, elements.length, places, values);
  // What was made of the same context is another list only where an element is.
  const isOther = comparable !== undefined && known === elements.length;
  const same = !isOther && last !== undefined && sameElements(last.made, made) ? last.made : made;
  const usesNow = patchedUses(before.uses, elements.length, places, uses);
  lists.keep(memo, entry, { terms, elements, reads, made: same, uses: usesNow }, usesNow);
  return same;
}

const nothingMade: Made<never, never, never> = { terms: [], elements: [], reads: [], made: [], uses: [] };

/** A list of so many elements, with others in some places: itself if nothing comes to be another. */
function patched<T>(list: readonly T[], length: number, places: readonly number[], values: readonly T[]): readonly T[] {
  // Nothing was known, and every place has its own: as a rule when the list is new.
  if (list.length === 0 && places.length === length && length > 0) return values;
  if (list.length === length) return withValues(list, places, values);
  const copy = list.slice(0, length);
  for (let at = 0; at < places.length; at++) copy[places[at] as number] = values[at] as T;
  return copy;
}

/** As `patched`; empty as long as no element has any. */
function patchedUses(
  before: readonly (Use | undefined)[],
  length: number,
  places: readonly number[],
  uses: readonly (Use | undefined)[],
): readonly (Use | undefined)[] {
  if (before.length === 0 && uses.every((use) => use === undefined)) return before;
  const now = Array.from({ length }, (_, at) => before[at]);
  for (let at = 0; at < places.length; at++) now[places[at] as number] = uses[at];
  return now;
}

/** A list that was mapped: what was read, and what was made. */
interface Made<E, I, T> {
  readonly terms: readonly unknown[];
  readonly elements: readonly E[];
  readonly reads: readonly I[];
  readonly made: readonly T[];
  /** What each was made with; empty as long as that is nothing that can be evicted. */
  readonly uses: readonly (Use | undefined)[];
}

/**
 * @param entry tells lists of one kind apart (the id of a scope); it decides what is found again, never
 *   what comes out
 * @param read what the element, at its place in the list, is made from beside itself; asked again each time, so it may look anywhere.
 *   Left out: it is made from itself and the context, which is told by fewer comparisons where there was none the time before
 * @returns what was made of the elements, in their order
 */
export type MappedList<C extends object, E, I, T> = (
  memo: Memo,
  entry: EntryName,
  elements: readonly E[],
  context: C,
  read?: (element: E, at: number) => I,
) => readonly T[];
