/** What lists are cut by. */
interface Cut<T> {
  weight(element: T): number;
  /** From 0 to 1. */
  hash(element: T): number;
}

/**
 * Cuts a list into runs of about one weight, at most some more than twice it. Where a run ends follows from a hash of its last
 * element and from what the run weighs: so a change moves no ends but those near it, and lists that agree from some element on are
 * soon cut alike.
 */
export function cutEvenly<T>(list: readonly T[], target: number, cut: Cut<T>): readonly (readonly T[])[] {
  const runs: (readonly T[])[] = [];
  for (let from = 0; from < list.length; ) {
    const end = endOfRun(list, from, target, cut);
    runs.push(list.slice(from, end));
    from = end;
  }
  return runs;
}

/** The place behind the last element of the run that begins at a place. */
export function endOfRun<T>(list: readonly T[], from: number, target: number, { weight, hash }: Cut<T>): number {
  let total = 0;
  for (let at = from; at < list.length; at++) {
    const element = list[at] as T;
    const own = weight(element);
    total += own;
    // Rarely at first, so that few runs are short, and often then, so that few are long.
    const often = total < 0.75 * target ? 1 / 4 : 2;
    if (total >= 2 * target || hash(element) < (often * own) / target) return at + 1;
  }
  return list.length;
}
