import type { ChunkedList } from "../config/chunked-list.ts";
import { lazily } from "../incremental/lazy.ts";

/** A message with a list of thousands, which is at hand without being put together. */
export interface ListApart {
  readonly field: string;
  readonly elements: ChunkedList<object>;
  /** The message with the list empty. */
  readonly around: object;
}

const known = new WeakMap<object, ListApart>();

/**
 * A message with a list in one of its fields. Whoever reads that field gets an array that is made then; whoever can do without asks `listApart`.
 *
 * @param around the message with the list empty, where it is to stand
 */
export function withListApart<M extends object>(around: M, field: keyof M & string, elements: ChunkedList<object>): M {
  const whole = { ...around };
  Object.defineProperty(whole, field, { enumerable: true, configurable: true, get: lazily(() => elements.toArray()) });
  known.set(whole, { field, elements, around });
  return whole;
}

/** @returns undefined for a message that is at hand as it is */
export const listApart = (message: object): ListApart | undefined => known.get(message);
