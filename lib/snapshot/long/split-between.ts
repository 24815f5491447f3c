/** Splits a list wherever something ends between two neighbours; what stands in the stretches, in their order, is the list. */
export function splitBetween<T>(
  list: readonly T[],
  endsBetween: (last: T, next: T) => boolean,
): readonly (readonly T[])[] {
  const stretches: (readonly T[])[] = [];
  let start = 0;
  // A plain loop: every class has lists that are split, and an iterator makes a pair for each element.
  for (let at = 1; at <= list.length; at++) {
    if (at < list.length && !endsBetween(list[at - 1] as T, list[at] as T)) continue;
    stretches.push(list.slice(start, at));
    start = at;
  }
  return stretches;
}
