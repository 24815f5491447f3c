/**
 * Cuts a list much of which was cut before: where nothing is new it is cut as it was, and is compared, not cut.
 *
 * @param before runs that `cut` has made
 * @param cut an end of a run follows from what is in it and from what comes next
 * @param others where alone the list has something else than those runs one after the other, ascending; undefined where nobody knows
 * @returns what `cut` makes of the list
 */
export function cutAgain<T>(
  before: Runs<T>,
  list: readonly T[],
  cut: (list: readonly T[]) => Runs<T>,
  others?: readonly number[],
): Runs<T> {
  return others === undefined ? cutCompared(before, list, cut) : cutAround(before, list, cut, others);
}

/** Nothing is compared: a run stands if neither an element of it is another, nor the one behind it. */
function cutAround<T>(
  before: Runs<T>,
  list: readonly T[],
  cut: (list: readonly T[]) => Runs<T>,
  others: readonly number[],
): Runs<T> {
  const runs: (readonly T[])[] = [];
  let [from, at, begin, next] = [0, 0, 0, 0];
  while (from < list.length) {
    for (; begin < from; at++) begin += before[at]?.length ?? list.length;
    while ((others[next] ?? from) < from) next++;
    const run = begin === from ? before[at] : undefined;
    const anew =
      run !== undefined && (others[next] ?? Infinity) > from + run.length ? [run] : firstRuns(list, from, cut);
    for (const one of anew) {
      runs.push(one);
      from += one.length;
    }
  }
  return runs;
}

function cutCompared<T>(before: Runs<T>, list: readonly T[], cut: (list: readonly T[]) => Runs<T>): Runs<T> {
  const places = new Map(before.map(([first], at) => [first, at]));
  const runs: (readonly T[])[] = [];
  let from = 0;
  while (from < list.length) {
    const at = places.get(list[from]);
    const run = at === undefined ? undefined : before[at];
    const end = from + (run?.length ?? 0);
    if (at !== undefined && run !== undefined && before[at + 1]?.[0] === list[end] && standsAt(run, list, from)) {
      runs.push(run);
      from = end;
      continue;
    }
    for (const anew of firstRuns(list, from, cut)) {
      runs.push(anew);
      from += anew.length;
    }
  }
  return runs;
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
