import { createHash } from "node:crypto";
import type { Memo } from "./memo.ts";
import { isSame, keepLast, lastMade } from "./same.ts";

/** A short text that stands for a long one among keys. */
export function fingerprint(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 24);
}

export { beginRound, sameList, sameMap } from "./same.ts";

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
