/**
 * Lists that are nearly another. A mesh of thousands of services has lists of as many elements, each made from the one before, and a
 * change replaces an element of each: where, is noted by whoever replaces it, so that whoever comes later need not compare them again.
 */

/** What lists of any form have in common: an array is one. */
export interface ReadonlyList<T> {
  readonly length: number;
  at(place: number): T | undefined;
}

type List = readonly unknown[];
type AnyList = ReadonlyList<unknown>;

/** What a list is the successor of, of the same length, and where they differ. */
interface Successor {
  readonly of: WeakRef<AnyList>;
  readonly places: readonly number[];
}

const successors = new WeakMap<AnyList, Successor>();

/** Shorter lists are sooner compared than looked up. */
const leastLength = 64;

/** More places than that are hardly worth a note. */
const mostPlaces = 64;

/** A list of the same length with others in some places: itself if nothing comes to be another. */
export function withValues<T>(list: readonly T[], places: readonly number[], values: readonly T[]): readonly T[] {
  if (places.every((place, at) => Object.is(list[place], values[at]))) return list;
  const copy = list.slice();
  for (let at = 0; at < places.length; at++) copy[places[at] as number] = values[at] as T;
  noteDelta(list, copy, places);
  return copy;
}

/**
 * Where two lists of one length may have different elements: looked for once, whoever asks.
 *
 * @returns ascending; undefined for lists of two lengths
 */
export function changedIndexes(before: List, after: List): readonly number[] | undefined {
  if (before === after) return nowhere;
  if (before.length !== after.length) return undefined;
  const known = after.length < leastLength ? undefined : successors.get(after);
  if (known?.of.deref() === before) return known.places;
  const places: number[] = [];
  for (let at = 0; at < after.length; at++) if (!Object.is(before[at], after[at])) places.push(at);
  noteDelta(before, after, places);
  return places;
}

const nowhere: readonly number[] = [];

/** A list of which another is known to be nearly the same, and where they may differ, ascending; undefined where none is known. */
export function predecessorOf<L extends AnyList>(
  list: L,
): { readonly list: L; readonly places: readonly number[] } | undefined {
  const known = list.length < leastLength ? undefined : successors.get(list);
  const before = known?.of.deref();
  // The places in which it is another are few; elsewhere it has these very elements.
  return known === undefined || before === undefined ? undefined : { list: before as L, places: known.places };
}

/** For whoever makes a list out of another of the same form and length. */
export function noteDelta<L extends AnyList>(before: L, after: L, places: readonly number[]): void {
  if (after.length < leastLength || places.length > mostPlaces) return;
  successors.set(after, { of: new WeakRef(before), places: places.toSorted((a, b) => a - b) });
}

/**
 * The runs of a list that stand in one that is nearly the same.
 *
 * @param runs one after the other they are that list
 * @param others where alone the two may differ, ascending
 * @param behind how many elements behind a run have a say in where it ends
 * @returns gives the run that begins at a place, unless an element that has a say in it is another now; to be asked for ascending places
 */
export function unchangedChunks<R>(
  runs: readonly R[],
  lengthOf: (run: R) => number,
  others: readonly number[],
  behind = 0,
): (from: number) => R | undefined {
  let [at, begin, next] = [0, 0, 0];
  return (from) => {
    for (; begin < from && at < runs.length; at++) begin += lengthOf(runs[at] as R);
    while ((others[next] ?? from) < from) next++;
    const run = begin === from ? runs[at] : undefined;
    return run !== undefined && (others[next] ?? Infinity) >= from + lengthOf(run) + behind ? run : undefined;
  };
}
