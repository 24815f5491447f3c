/** Another clock, as far as it shows in answers. */
export interface DateClock {
  /**
   * @param date as the `Date` header writes it, in whole seconds
   * @param askedMs when the answer was asked for, by the clock of `performance.now`
   */
  seen(date: string, askedMs: number): void;
  /** What it shows now, to a second; undefined before anything was seen. */
  now(): number | undefined;
}

/**
 * Puts together what answers tell. Each says that the other clock was within a second at some moment of asking; together they say
 * more, until the two clocks drift apart, and then the last one counts.
 */
export function createDateClock(monotonic: () => number = () => performance.now()): DateClock {
  let leastMs = Number.NEGATIVE_INFINITY;
  let mostMs = Number.POSITIVE_INFINITY;
  return {
    seen(date, askedMs) {
      const dateMs = Date.parse(date);
      if (Number.isNaN(dateMs)) return;
      const least = dateMs - monotonic();
      const most = dateMs + 1_000 - askedMs;
      const agrees = least <= mostMs && most >= leastMs;
      leastMs = agrees ? Math.max(least, leastMs) : least;
      mostMs = agrees ? Math.min(most, mostMs) : most;
    },
    now: () => (Number.isFinite(leastMs) ? (leastMs + mostMs) / 2 + monotonic() : undefined),
  };
}
