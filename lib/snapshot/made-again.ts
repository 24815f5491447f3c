/**
 * What is there as long as it is used, and made again for whoever asks later: what was made to be hashed is mostly still there when it is
 * written, and nobody holds it after that.
 *
 * @param first what was made; to be wrapped where no function holds it
 * @param make gives the same each time
 */
export function madeAgain<T extends object>(first: WeakRef<T>, make: () => T): () => T {
  let held = first;
  return () => {
    const known = held.deref();
    if (known !== undefined) return known;
    const again = make();
    held = new WeakRef(again);
    return again;
  };
}
