import { changedPlaces, withValues } from "../../config/changed-places.ts";
import { sameElements, sameUntil } from "../../config/same-elements.ts";
import type { Memo } from "./memo.ts";
import { plainPart } from "./plain-text.ts";
import { type Slot, Slots } from "./slots.ts";
import { elementsOf, fieldsOf, type InputKinds, InputReader } from "./step.ts";

/**
 * One pass over a long list. An element that reads what it read before keeps what was made of it, for the price of two
 * comparisons, and the whole list stays the same object if all of them do; whatever changed goes through `make`, which had
 * better remember by itself.
 *
 * Like a step, a pass stands at the top level of its module: `make` sees the element, what `read` gave for it, and the
 * context, whose inputs count for every element.
 */
export function pass<C extends object, E, I, T>(
  name: string,
  kinds: InputKinds<C>,
  make: (element: E, read: I, context: C, memo: Memo) => T,
): Pass<C, E, I, T> {
  const maker: Maker<C, E, I, T> = {
    kinds,
    fields: fieldsOf(kinds),
    reader: new InputReader(name, kinds),
    make,
    passes: new Slots(`pass ${name}`),
  };
  return (memo, slot, elements, context, read) => passBy(maker, memo, slot, { elements, context, read });
}

interface Maker<C extends object, E, I, T> {
  readonly kinds: InputKinds<C>;
  readonly fields: readonly (keyof C)[];
  readonly reader: InputReader<C>;
  readonly make: (element: E, read: I, context: C, memo: Memo) => T;
  /** What was made last. */
  readonly passes: Slots<Made<E, I, T>>;
}

interface Passed<C extends object, E, I> {
  readonly elements: readonly E[];
  readonly context: C;
  readonly read: ((element: E, at: number) => I) | undefined;
}

/** One function for all, as of steps. */
function passBy<C extends object, E, I, T>(
  { kinds, fields, reader, make, passes }: Maker<C, E, I, T>,
  memo: Memo,
  slot: Slot,
  { elements, context, read }: Passed<C, E, I>,
): readonly T[] {
  const used = reader.own(context);
  const terms: unknown[] = [];
  for (let at = 0; at < fields.length; at++) {
    const field = fields[at] as keyof C;
    addTerms(terms, kinds[field], used[field]);
  }
  const last = passes.last(memo, slot);
  const comparable = last !== undefined && sameElements<unknown>(last.terms, terms) ? last : undefined;
  const before = comparable ?? nothingMade;
  const known = before.elements.length;
  // Of nothing now, nor when they were made: another element is the only thing that makes a difference.
  const isOfItself = read === undefined && before.reads.length === 0;
  const places: number[] = [];
  const nows: I[] = [];
  const values: T[] = [];
  const lookAt = (at: number): void => {
    const element = elements[at] as E;
    const isKnown = at < known && before.elements[at] === element;
    if (isKnown && isOfItself) return;
    const now = read?.(element, at) as I;
    if (isKnown && Object.is(before.reads[at], now)) return;
    places.push(at);
    nows.push(now);
    values.push(make(element, now, used, memo));
  };
  // Elements that are made from nothing else are looked at where they are others.
  const moved = isOfItself && known > 0 ? changedPlaces(before.elements, elements) : undefined;
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
  passes.keep(memo, slot, { terms, elements, reads, made: same });
  return same;
}

const nothingMade: Made<never, never, never> = { terms: [], elements: [], reads: [], made: [] };

/** A list of so many elements, with others in some places: itself if nothing comes to be another. */
function patched<T>(list: readonly T[], length: number, places: readonly number[], values: readonly T[]): readonly T[] {
  // Nothing was known, and every place has its own: the usual first pass.
  if (list.length === 0 && places.length === length && length > 0) return values;
  if (list.length === length) return withValues(list, places, values);
  const copy = list.slice(0, length);
  for (let at = 0; at < places.length; at++) copy[places[at] as number] = values[at] as T;
  return copy;
}

/** What an input is compared by. A list that is not there is not an empty one. */
function addTerms(terms: unknown[], kind: "identity" | "elements" | "value", input: unknown): void {
  if (kind === "value") terms.push(plainPart(input));
  else if (kind === "identity" || input === undefined) terms.push(input);
  else terms.push(elementsOf(input).length, ...elementsOf(input));
}

/** One pass: what it read, and what it made. */
interface Made<E, I, T> {
  readonly terms: readonly unknown[];
  readonly elements: readonly E[];
  readonly reads: readonly I[];
  readonly made: readonly T[];
}

/**
 * @param slot tells passes of one kind over several lists apart (the id of a scope); it decides what is found again, never
 *   what comes out
 * @param read what the element, at its place in the list, is made from beside itself; asked again in every pass, so it may look anywhere.
 *   Left out: it is made from itself and the context, which is told by fewer comparisons where the pass before had none either
 * @returns what was made of the elements, in their order
 */
export type Pass<C extends object, E, I, T> = (
  memo: Memo,
  slot: Slot,
  elements: readonly E[],
  context: C,
  read?: (element: E, at: number) => I,
) => readonly T[];
