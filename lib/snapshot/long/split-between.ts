/** Splits a list wherever something ends between two neighbours; what stands in the stretches, in their order, is the list. */
export function splitBetween<T>(
  list: readonly T[],
  endsBetween: (last: T, next: T) => boolean,
): readonly (readonly T[])[] {
  const starts: number[] = [];
  let last: T | undefined;
  for (const [i, item] of list.entries()) {
    if (last === undefined || endsBetween(last, item)) starts.push(i);
    last = item;
  }
  return starts.map((start, i) => list.slice(start, starts[i + 1]));
}
