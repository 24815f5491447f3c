import { createHash } from "node:crypto";
import type { Memo } from "./memo.ts";

/** A short text that stands for a long one among keys. */
export function fingerprint(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 24);
}

/** Lists, maps and passes made last, by name, in a memo. */
interface Slots {
  /** Meshes built with this memo so far. */
  round: number;
  readonly lists: Map<string, Slot<readonly unknown[]>>;
  readonly maps: Map<string, Slot<ReadonlyMap<string, unknown>>>;
  readonly passes: Map<string, Slot<Pass>>;
}

interface Slot<T> {
  current: T;
  usedInRound: number;
}

const slotsOf = (memo: Memo): Slots =>
  memo<Slots>([], "slots", () => ({ round: 0, lists: new Map(), maps: new Map(), passes: new Map() }));

/** Rounds after which a list that nobody asked for again is forgotten. */
const retainedRounds = 64;

/** Begins a mesh: names that went out of use long ago (classes of workloads that are gone) give up what they hold. */
export function beginRound(memo: Memo): void {
  const slots = slotsOf(memo);
  slots.round += 1;
  if (slots.round % retainedRounds !== 0) return;
  for (const named of [slots.lists, slots.maps, slots.passes]) {
    for (const [name, slot] of named) if (slot.usedInRound < slots.round - retainedRounds) named.delete(name);
  }
}

/**
 * The list made last under this name if it had the same elements, else the given list. What is made from a list can be
 * remembered by the list's identity then, and stays as long as its elements do. The result always equals `list`.
 *
 * @param alike whether two elements say the same; as a rule only one object does
 */
export function sameList<T>(
  memo: Memo,
  name: string,
  list: readonly T[],
  alike: (last: T, element: T) => boolean = Object.is,
): readonly T[] {
  const { lists, round } = slotsOf(memo);
  const slot = lists.get(name);
  // Names hold the type of their elements, as in the memo.
  const last = slot?.current as readonly T[] | undefined;
  if (slot !== undefined) slot.usedInRound = round;
  if (last !== undefined && isSame(last, list, alike)) return last;
  lists.set(name, { current: list, usedInRound: round });
  return list;
}

function isSame<T>(
  last: readonly T[],
  list: readonly T[],
  alike: (last: T, element: T) => boolean = Object.is,
): boolean {
  if (last.length !== list.length) return false;
  for (let at = 0; at < list.length; at++) if (!alike(last[at] as T, list[at] as T)) return false;
  return true;
}

/** As `sameList`, for a map: the one made last under this name if it had the same entries. */
export function sameMap<T>(memo: Memo, name: string, map: ReadonlyMap<string, T>): ReadonlyMap<string, T> {
  const { maps, round } = slotsOf(memo);
  const slot = maps.get(name);
  const last = slot?.current;
  if (slot !== undefined) slot.usedInRound = round;
  if (last !== undefined && hasSameEntries(last, map)) return last;
  maps.set(name, { current: map, usedInRound: round });
  return map;
}

function hasSameEntries<T>(
  last: ReadonlyMap<string, unknown>,
  map: ReadonlyMap<string, T>,
): last is ReadonlyMap<string, T> {
  if (last === map) return true;
  if (last.size !== map.size) return false;
  for (const [key, value] of map) if (last.get(key) !== value) return false;
  return true;
}

/** One pass over a list: what it read, and what it made. */
interface Pass {
  readonly context: readonly unknown[];
  readonly elements: readonly unknown[];
  readonly inputs: readonly unknown[];
  readonly made: readonly unknown[];
}

/** What each element is made from, beside itself. */
export interface Inputs<E, I> {
  /** Read for every element: as soon as one is another object, all are made again. */
  readonly context: readonly unknown[];
  /** Read for this element. */
  of(element: E): I;
}

/**
 * `elements.map(make)`, remembered under a name: an element in its old place that reads what it read before keeps what was
 * made of it, for the price of two comparisons, and the whole list stays the same object if all of them do. Whatever
 * changed goes through `make`, which had better remember by itself.
 */
export function mapAgain<E, I, T>(
  memo: Memo,
  name: string,
  elements: readonly E[],
  { context, of }: Inputs<E, I>,
  make: (element: E, input: I) => T,
): readonly T[] {
  const { passes, round } = slotsOf(memo);
  const slot = passes.get(name);
  const last = slot?.current;
  const known = last !== undefined && isSame(last.context, context) ? last : undefined;
  const inputs = elements.map(of);
  const made = elements.map((element, at) =>
    known !== undefined && known.elements[at] === element && known.inputs[at] === inputs[at]
      ? // Names hold the type of what is made, as in the memo.
        (known.made[at] as T)
      : make(element, inputs[at] as I),
  );
  const same = last !== undefined && isSame<unknown>(last.made, made) ? (last.made as readonly T[]) : made;
  passes.set(name, { current: { context, elements, inputs, made: same }, usedInRound: round });
  return same;
}

/** A function of one text or number that works every answer out once. */
export function remembered<K extends string | number, T>(make: (key: K) => T): (key: K) => T {
  const made = new Map<K, { readonly value: T }>();
  return (key) => {
    let entry = made.get(key);
    if (entry === undefined) {
      entry = { value: make(key) };
      made.set(key, entry);
    }
    return entry.value;
  };
}

/** A value that is worked out when it is first asked for. */
export function lazily<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

/** Elements by a text, in their order. */
export function groupBy<T>(elements: Iterable<T>, keyOf: (element: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const element of elements) {
    const key = keyOf(element);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [element]);
    else group.push(element);
  }
  return groups;
}
