import type { Patch } from "./patch.ts";

/** What a patch of an ordered list means by "the element". */
export interface ElementMatch<T> {
  /** Whether the patch names an element at all. */
  readonly given: boolean;
  readonly is: (element: T) => boolean;
}

/**
 * One operation on a list whose order has meaning; MERGE is not one of them and changes nothing here.
 *
 * Without a named element, to insert before is to come first and to insert after is to come last, while to replace or to remove
 * nothing in particular does nothing. Only the first match is replaced, or inserted at; all are removed.
 * @see docs/how-istio-does-it/envoy-filters.md#operations
 */
export function patchList<T>(list: readonly T[], patch: Patch<T>, match: ElementMatch<T>): readonly T[] {
  const at = match.given ? list.findIndex(match.is) : -1;
  switch (patch.operation) {
    case "ADD":
      return [...list, patch.value];
    case "INSERT_FIRST":
      return [patch.value, ...list];
    case "INSERT_BEFORE":
      if (!match.given) return [patch.value, ...list];
      return at < 0 ? list : list.toSpliced(at, 0, patch.value);
    case "INSERT_AFTER":
      if (!match.given) return [...list, patch.value];
      return at < 0 ? list : list.toSpliced(at + 1, 0, patch.value);
    case "REPLACE":
      return at < 0 ? list : list.with(at, patch.value);
    case "REMOVE":
      return at < 0 ? list : list.filter((element) => !match.is(element));
    default:
      return list;
  }
}
