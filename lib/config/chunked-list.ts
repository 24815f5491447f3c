import { noteDelta, type ReadonlyList } from "../incremental/list-delta.ts";

/** A power of two: about the root of how long such lists are, so that neither a chunk nor the list of chunks is long. */
const chunkBits = 6;
const chunkLength = 2 ** chunkBits;

/**
 * A list of thousands in chunks. One that differs from another in a few places has all other chunks in common with it: where a change makes a
 * hundred such lists, copies would be most of what it leaves to the garbage collector, which goes over every element.
 */
export class ChunkedList<T> implements ReadonlyList<T> {
  readonly length: number;
  readonly #chunks: readonly (readonly T[])[];

  private constructor(length: number, chunks: readonly (readonly T[])[]) {
    this.length = length;
    this.#chunks = chunks;
  }

  static of<T>(list: readonly T[]): ChunkedList<T> {
    const chunks: (readonly T[])[] = [];
    for (let from = 0; from < list.length; from += chunkLength) chunks.push(list.slice(from, from + chunkLength));
    return new ChunkedList(list.length, chunks);
  }

  /** @param place from the beginning */
  at(place: number): T | undefined {
    return this.#chunks[place >> chunkBits]?.[place & (chunkLength - 1)];
  }

  /** With others in some places: itself if nothing comes to be another. Where it differs is noted, as by `withValues`. */
  with(places: readonly number[], values: readonly T[]): ChunkedList<T> {
    if (places.every((place, at) => Object.is(this.at(place), values[at]))) return this;
    const chunks = this.#chunks.slice();
    const own = new Set<number>();
    for (let at = 0; at < places.length; at++) {
      const place = places[at] as number;
      const number = place >> chunkBits;
      const chunk = own.has(number) ? (chunks[number] as T[]) : (chunks[number] ?? []).slice();
      own.add(number);
      chunk[place & (chunkLength - 1)] = values[at] as T;
      chunks[number] = chunk;
    }
    const list = new ChunkedList(this.length, chunks);
    noteDelta(this, list, places);
    return list;
  }

  toArray(): T[] {
    return this.#chunks.flat();
  }
}

/** All elements of a list. */
export const arrayOf = <T>(list: ReadonlyList<T>): readonly T[] =>
  Array.isArray(list) ? list : Array.from({ length: list.length }, (_, place) => list.at(place) as T);
