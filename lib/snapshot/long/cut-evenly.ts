/**
 * Cuts a list into runs of about one weight, at most some more than twice it. Where a run ends follows from a hash of its last
 * element and from what the run weighs: so a change moves no ends but those near it, and lists that agree from some element on are
 * soon cut alike.
 *
 * @param hash of an element, from 0 to 1
 */
export function cutEvenly<T>(
  list: readonly T[],
  target: number,
  { weight, hash }: { weight(element: T): number; hash(element: T): number },
): readonly (readonly T[])[] {
  const runs: T[][] = [];
  let run: T[] = [];
  let total = 0;
  for (const element of list) {
    run.push(element);
    const own = weight(element);
    total += own;
    // Rarely at first, so that few runs are short, and often then, so that few are long.
    const often = total < 0.75 * target ? 1 / 4 : 2;
    if (total < 2 * target && hash(element) >= (often * own) / target) continue;
    runs.push(run);
    run = [];
    total = 0;
  }
  return run.length === 0 ? runs : [...runs, run];
}
