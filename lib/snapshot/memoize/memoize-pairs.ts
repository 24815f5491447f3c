/** Remembers what was made of two objects, by their identity, for as long as both live; forgetting never changes a result. */
export function memoizePairs<A extends object, B extends object, R extends object | boolean>(
  make: (first: A, second: B) => R,
): (first: A, second: B) => R {
  const known = new WeakMap<A, WeakMap<B, R>>();
  return (first, second) => {
    const before = known.get(first)?.get(second);
    if (before !== undefined) return before;
    const result = make(first, second);
    const results = known.get(first) ?? new WeakMap<B, R>();
    results.set(second, result);
    known.set(first, results);
    return result;
  };
}
