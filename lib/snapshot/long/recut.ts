import { unchangedChunks } from "../../incremental/list-delta.ts";

/**
 * Cuts a list much of which was cut before: where nothing is new it is cut as it was, and is compared, not cut.
 *
 * @param before runs that `cut` has made
 * @param cut an end of a run follows from what is in it and from what comes next
 * @param others where alone the list has something else than those runs one after the other, ascending; undefined where nobody knows
 * @returns what `cut` makes of the list
 */
export function recut<T>(
  before: Runs<T>,
  list: readonly T[],
  cut: (list: readonly T[]) => Runs<T>,
  others?: readonly number[],
): Runs<T> {
  const runFrom =
    others === undefined ? comparedRuns(before, list) : unchangedChunks(before, ({ length }) => length, others, 1);
  const runs: (readonly T[])[] = [];
  for (let from = 0; from < list.length; ) {
    const run = runFrom(from);
    for (const one of run === undefined ? firstRuns(list, from, cut) : [run]) {
      runs.push(one);
      from += one.length;
    }
  }
  return runs;
}

/** As `unchangedChunks`, where nobody knows in what two lists differ: what begins alike is compared. */
function comparedRuns<T>(before: Runs<T>, list: readonly T[]): (from: number) => readonly T[] | undefined {
  const places = new Map(before.map(([first], at) => [first, at]));
  return (from) => {
    const at = places.get(list[from]);
    const run = at === undefined ? undefined : before[at];
    if (at === undefined || run === undefined) return undefined;
    return before[at + 1]?.[0] === list[from + run.length] && standsAt(run, list, from) ? run : undefined;
  };
}

type Runs<T> = readonly (readonly T[])[];

/** So many elements are as a rule some runs. */
const cutAtOnce = 32;

/** One run or more, from a place on where one begins. */
function firstRuns<T>(list: readonly T[], from: number, cut: (list: readonly T[]) => Runs<T>): Runs<T> {
  for (let count = cutAtOnce; ; count *= 2) {
    const runs = cut(list.slice(from, from + count));
    if (from + count >= list.length) return runs;
    // The last one ends where the piece does.
    if (runs.length > 1) return runs.slice(0, -1);
  }
}

function standsAt<T>(run: readonly T[], list: readonly T[], start: number): boolean {
  for (let at = 0; at < run.length; at++) if (run[at] !== list[start + at]) return false;
  return true;
}
