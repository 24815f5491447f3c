import { changedIndexes } from "../../incremental/list-delta.ts";

/** What went and came between two lists of immutable objects; a changed object is in both. */
export interface ListChanges<T> {
  readonly removed: readonly T[];
  readonly added: readonly T[];
}

/**
 * Compares two lists by the identity of their elements. The usual case, a list with one element replaced, costs a walk along it, or less
 * where whoever replaced it has noted that. No element stands in a list twice.
 */
export function listChanges<T extends object>(before: readonly T[], after: readonly T[]): ListChanges<T> {
  const places = changedIndexes(before, after);
  // Every place is one of both lists.
  if (places !== undefined)
    return movedApart(
      places.map((at) => before[at] as T),
      places.map((at) => after[at] as T),
    );
  let start = 0;
  const shorter = Math.min(before.length, after.length);
  while (start < shorter && before[start] === after[start]) start++;
  let end = 0;
  while (end < shorter - start && before[before.length - 1 - end] === after[after.length - 1 - end]) end++;
  return movedApart(before.slice(start, before.length - end), after.slice(start, after.length - end));
}

/** What went and what came, but for what stands elsewhere now. */
function movedApart<T extends object>(went: readonly T[], came: readonly T[]): ListChanges<T> {
  if (went.length === 0 || came.length === 0) return { removed: went, added: came };
  const old = new Set(went);
  const young = new Set(came);
  return { removed: went.filter((item) => !young.has(item)), added: came.filter((item) => !old.has(item)) };
}
