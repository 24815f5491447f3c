/** Remembers what was made of an object, by its identity, for as long as it lives; forgetting never changes a result. */
export function memoizeEach<T extends object, R extends object | boolean>(make: (of: T) => R): (of: T) => R {
  const known = new WeakMap<T, R>();
  return (of) => {
    const before = known.get(of);
    if (before !== undefined) return before;
    const result = make(of);
    known.set(of, result);
    return result;
  };
}
