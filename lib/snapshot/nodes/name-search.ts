/** Where a name stands, or would stand, in a list sorted by names: before it are those that are smaller. */
export function placeOfName<T>(sorted: readonly T[], name: string, nameOf: (item: T) => string): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    const item = sorted[middle];
    if (item !== undefined && nameOf(item) < name) low = middle + 1;
    else high = middle;
  }
  return low;
}
