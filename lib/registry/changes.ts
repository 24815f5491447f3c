/** What went and came between two lists of immutable objects; a changed object is in both. */
export interface ListChanges<T> {
  readonly removed: readonly T[];
  readonly added: readonly T[];
}

/**
 * Compares two lists by the identity of their elements. What is equal at both ends is skipped first, so that the
 * usual case, a list with one element replaced, costs no more than a walk along it. No element stands in a list twice.
 */
export function listChanges<T extends object>(before: readonly T[], after: readonly T[]): ListChanges<T> {
  if (before === after) return { removed: [], added: [] };
  let start = 0;
  const shorter = Math.min(before.length, after.length);
  while (start < shorter && before[start] === after[start]) start++;
  let end = 0;
  while (end < shorter - start && before[before.length - 1 - end] === after[after.length - 1 - end]) end++;
  // Of lists as long as each other most elements between two changes stand where they stood.
  const isInPlace = (item: T, at: number, others: readonly T[]): boolean =>
    before.length === after.length && item === others[start + at];
  const went = before.slice(start, before.length - end).filter((item, at) => !isInPlace(item, at, after));
  const came = after.slice(start, after.length - end).filter((item, at) => !isInPlace(item, at, before));
  if (went.length === 0 || came.length === 0) return { removed: went, added: came };
  const old = new Set(went);
  const young = new Set(came);
  return { removed: went.filter((item) => !young.has(item)), added: came.filter((item) => !old.has(item)) };
}
