/**
 * Whether two lists have the same elements in the same order.
 *
 * @param alike whether two elements say the same; as a rule only one object does
 */
export function sameElements<T>(a: readonly T[], b: readonly T[], alike: (a: T, b: T) => boolean = Object.is): boolean {
  if (a === b) return true;
  if (a.length !== b.length) return false;
  for (let at = 0; at < b.length; at++) {
    // Most elements of most lists are the same object, for which nobody need be asked.
    if (a[at] !== b[at] && !alike(a[at] as T, b[at] as T)) return false;
  }
  return true;
}

/** How many elements two lists have in common at their beginning. */
export function sameUntil(a: readonly unknown[], b: readonly unknown[]): number {
  if (a === b) return b.length;
  const most = Math.min(a.length, b.length);
  let at = 0;
  while (at < most && a[at] === b[at]) at++;
  return at;
}
