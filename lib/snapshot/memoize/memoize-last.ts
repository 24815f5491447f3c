import { sameElements } from "../../incremental/same-elements.ts";

/** Remembers what was made of the last few lists, by what is in them: plain values, or objects by their identity. */
export function memoizeLast<T, R>(make: (list: readonly T[]) => R): (list: readonly T[]) => R {
  let known: readonly { readonly list: readonly T[]; readonly result: R }[] = [];
  return (list) => {
    const same = known.find((entry) => sameElements(entry.list, list));
    if (same !== undefined) return same.result;
    const result = make(list);
    // Of a world before and after a change, and of those between.
    known = [{ list, result }, ...known.slice(0, 3)];
    return result;
  };
}
