import { byCodePoint } from "../base/diagnostic.ts";
import { placeOfName } from "../snapshot/nodes/name-search.ts";

/**
 * An immutable map from names to values whose changes cost what they change: a stream with 150,000 names may add one at a time.
 *
 * It is a list of sorted chunks, the oldest and largest first. A change appends a chunk, and a chunk is merged into the one before it
 * unless that one is at least twice as long. So each entry is copied a logarithmic number of times, and lookups search few chunks.
 */
export interface NameMap<V> {
  /** How many names it has. */
  readonly size: number;
  /** Length of all names together, in UTF-16 code units. */
  readonly characters: number;
  readonly chunks: readonly NameChunk<V>[];
}

export interface NameChunk<V> {
  /** Sorted by code point, each once. */
  readonly names: readonly string[];
  /** Of each name; `undefined` where the name was removed from the chunks before. */
  readonly values: readonly (V | undefined)[];
}

/** A set of names. */
export type NameSet = NameMap<true>;

export const noNames: NameMap<never> = { size: 0, characters: 0, chunks: [] };

/** Removed entries may take as much room as the rest, and a few more. */
const spareEntries = 64;

/** The value of a name; `undefined` for a name that is not in the map. */
export function valueOf<V>({ chunks }: NameMap<V>, name: string): V | undefined {
  for (let index = chunks.length - 1; index >= 0; index -= 1) {
    const { names, values } = chunks[index] ?? { names: [], values: [] };
    const at = placeOfName(names, name, (one) => one);
    if (names[at] === name) return values[at];
  }
  return undefined;
}

/**
 * The map with some entries set and others removed; a name in both lists is set.
 *
 * @returns the same map where nothing is set and no removed name is in it
 */
export function changedMap<V>(
  map: NameMap<V>,
  set: Iterable<readonly [string, V]>,
  removed: Iterable<string> = [],
): NameMap<V> {
  const change = new Map<string, V | undefined>();
  for (const name of removed) change.set(name, undefined);
  for (const [name, value] of set) {
    // The later text of equal names is kept, as the later value is.
    change.delete(name);
    change.set(name, value);
  }
  let { size, characters } = map;
  const names: string[] = [];
  for (const name of [...change.keys()].sort(byCodePoint)) {
    const was = valueOf(map, name) !== undefined;
    const is = change.get(name) !== undefined;
    if (!was && !is) continue;
    names.push(name);
    if (was === is) continue;
    size += is ? 1 : -1;
    characters += is ? name.length : -name.length;
  }
  if (names.length === 0) return map;
  const chunk = { names, values: names.map((name) => change.get(name)) };
  return { size, characters, chunks: compacted([...map.chunks, chunk], size) };
}

/** The set with some names added and others removed; a name in both lists is added. */
export const changedSet = (set: NameSet, added: Iterable<string>, removed: Iterable<string> = []): NameSet =>
  changedMap(set, Array.from(added, present), removed);

export const nameSet = (names: Iterable<string>): NameSet => changedSet(noNames, names);

const present = (name: string): readonly [string, true] => [name, true];

/** All names, sorted by code point. */
export const namesIn = ({ chunks }: NameMap<unknown>): readonly string[] => whole(chunks).names;

/** All entries, in the order of their names. */
export function* entriesIn<V>({ chunks }: NameMap<V>): Generator<readonly [string, V]> {
  const { names, values } = whole(chunks);
  for (const [at, name] of names.entries()) {
    const value = values[at];
    if (value !== undefined) yield [name, value];
  }
}

function compacted<V>(chunks: readonly NameChunk<V>[], size: number): readonly NameChunk<V>[] {
  const entries = chunks.reduce((sum, { names }) => sum + names.length, 0);
  if (entries > 2 * size + spareEntries) return [whole(chunks)];
  const left = [...chunks];
  for (;;) {
    const [before, last] = left.slice(-2);
    if (before === undefined || last === undefined || before.names.length >= 2 * last.names.length) return left;
    left.splice(-2, 2, merged(before, last, left.length === 2));
  }
}

/** One chunk for all: the newest, which are the shortest, are merged first. */
function whole<V>(chunks: readonly NameChunk<V>[]): NameChunk<V> {
  const [first = { names: [], values: [] }, ...others] = chunks;
  const newer = others.reduceRight<NameChunk<V> | undefined>(
    (later, chunk) => (later === undefined ? chunk : merged(chunk, later, false)),
    undefined,
  );
  return newer === undefined ? first : merged(first, newer, true);
}

/** @param isFirst whether nothing is before the two chunks, so that what was removed need not be remembered */
function merged<V>(older: NameChunk<V>, newer: NameChunk<V>, isFirst: boolean): NameChunk<V> {
  const names: string[] = [];
  const values: (V | undefined)[] = [];
  const add = (name: string, value: V | undefined) => {
    if (isFirst && value === undefined) return;
    names.push(name);
    values.push(value);
  };
  let next = 0;
  const addNewerUpTo = (limit: string | undefined) => {
    for (let name = newer.names[next]; name !== undefined; name = newer.names[next]) {
      if (limit !== undefined && name > limit) return;
      add(name, newer.values[next]);
      next += 1;
    }
  };
  for (const [at, name] of older.names.entries()) {
    addNewerUpTo(name);
    if (newer.names[next - 1] !== name) add(name, older.values[at]);
  }
  addNewerUpTo(undefined);
  return { names, values };
}
