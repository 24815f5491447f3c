/** A function of one text, number or object that works every answer out once. */
export function remembered<K extends string | number | object, T>(make: (key: K) => T): (key: K) => T {
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
