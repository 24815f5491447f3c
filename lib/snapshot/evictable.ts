/**
 * A value that the garbage collector may take and that is made again on the next read: what was made to be hashed usually still exists
 * when it is written, and nothing needs it after that.
 *
 * @param first the value; wrap it where no closure references it
 * @param make gives the same each time
 */
export function evictable<T extends object>(first: WeakRef<T>, make: () => T): () => T {
  let held = first;
  return () => {
    const known = held.deref();
    if (known !== undefined) return known;
    const again = make();
    held = new WeakRef(again);
    return again;
  };
}
