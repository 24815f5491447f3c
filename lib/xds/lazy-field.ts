import type { ChunkedList } from "../config/chunked-list.ts";
import { lazily } from "../incremental/lazy.ts";

/** A message whose long list is built only when the field is read. */
export interface LazyField {
  readonly field: string;
  readonly elements: ChunkedList<object>;
  /** The message with the list empty. */
  readonly around: object;
}

const known = new WeakMap<object, LazyField>();

/**
 * A message with a list in one of its fields. Reading the field builds the array; `lazyFieldOf` gives the list without building it.
 *
 * @param around the message with the list empty, where it is to stand
 */
export function withLazyField<M extends object>(around: M, field: keyof M & string, elements: ChunkedList<object>): M {
  const whole = { ...around };
  Object.defineProperty(whole, field, { enumerable: true, configurable: true, get: lazily(() => elements.toArray()) });
  known.set(whole, { field, elements, around });
  return whole;
}

/** @returns undefined for a message without a lazy field */
export const lazyFieldOf = (message: object): LazyField | undefined => known.get(message);
