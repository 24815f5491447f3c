import { sameElements } from "../../incremental/same-elements.ts";

/**
 * Remembers what was made of a run of objects, by the identity of all of them.
 *
 * @param most how many runs with one first object are remembered. A few are enough for a run before and after a change, and where it
 *   ends otherwise for some classes
 */
export function memoizeChunks<T extends object, R>(make: (run: readonly T[]) => R, most = 4): (run: readonly T[]) => R {
  const known = new WeakMap<T, readonly { readonly run: readonly T[]; readonly result: R }[]>();
  return (run) => {
    const [first] = run;
    const entries = (first === undefined ? undefined : known.get(first)) ?? [];
    const same = entries.find((entry) => sameElements(entry.run, run));
    if (same !== undefined) return same.result;
    const result = make(run);
    if (first !== undefined) known.set(first, [{ run, result }, ...entries.slice(0, most - 1)]);
    return result;
  };
}
