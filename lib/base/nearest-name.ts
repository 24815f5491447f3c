/** Number of insertions, deletions, replacements and swaps of neighbours between two short texts. */
export function distance(a: string, b: string): number {
  let before: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const same = a[row - 1] === b[column - 1];
      let best = Math.min(
        (previous[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (previous[column - 1] ?? 0) + (same ? 0 : 1),
      );
      if (row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]) {
        best = Math.min(best, (before[column - 2] ?? 0) + 1);
      }
      current.push(best);
    }
    before = previous;
    previous = current;
  }
  return previous[b.length] ?? 0;
}

/**
 * The known name that was probably meant: the nearest one, case and underscores aside, at most a third of its letters away.
 * Ties go to the first in `known`.
 */
export function nearestName(written: string, known: readonly string[]): string | undefined {
  if (written.length > 64) return undefined;
  const plain = written.replaceAll("_", "").toLowerCase();
  let best: string | undefined;
  let bestDistance = Number.POSITIVE_INFINITY;
  for (const name of known) {
    const steps = distance(plain, name.toLowerCase());
    if (steps < bestDistance && steps <= Math.max(1, Math.ceil(name.length / 3))) {
      best = name;
      bestDistance = steps;
    }
  }
  return best;
}
