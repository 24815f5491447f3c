/** Splits a list wherever something ends between two neighbours; what stands in the stretches, in their order, is the list. */
export function splitBetween<T>(
  list: readonly T[],
  endsBetween: (last: T, next: T) => boolean,
): readonly (readonly T[])[] {
  const starts = list.flatMap((item, i) => {
    const last = list[i - 1];
    return i === 0 || (last !== undefined && endsBetween(last, item)) ? [i] : [];
  });
  return starts.map((start, i) => list.slice(start, starts[i + 1]));
}
