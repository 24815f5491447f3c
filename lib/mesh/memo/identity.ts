import type { Memo } from "./memo.ts";
import { isSame, keepLast, lastMade } from "./same.ts";

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
  const last = lastMade<Pass>(memo, name);
  const known = last !== undefined && isSame(last.context, context) ? last : undefined;
  const inputs = elements.map(of);
  const made = elements.map((element, at) =>
    known !== undefined && known.elements[at] === element && known.inputs[at] === inputs[at]
      ? // Names hold the type of what is made, as in the memo.
        (known.made[at] as T)
      : make(element, inputs[at] as I),
  );
  const same = last !== undefined && isSame<unknown>(last.made, made) ? (last.made as readonly T[]) : made;
  keepLast(memo, name, { context, elements, inputs, made: same });
  return same;
}
