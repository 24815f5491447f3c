/** Counts certificates by the minute. */
export interface CertificateRate {
  /** @returns whether one more is within the limit of everything that it counts for */
  take(counts: readonly RateCount[], nowMs: number): boolean;
}

/** Something that certificates are counted for, and how many it may have in a minute. */
export interface RateCount {
  readonly name: string;
  readonly perMinute: number;
}

const minuteMs = 60_000;

/** Names that are counted at a time; with more, those that were counted first start anew. */
const maxNames = 50_000;

/** Counts in this process. Each name's minute begins with its first certificate. */
export function certificateRate(): CertificateRate {
  const windows = new Map<string, { readonly fromMs: number; count: number }>();

  function windowOf(name: string, nowMs: number): { count: number } {
    const known = windows.get(name);
    if (known !== undefined && nowMs - known.fromMs < minuteMs) return known;
    const fresh = { fromMs: nowMs, count: 0 };
    // A name that comes again goes to the end: the first is the oldest.
    windows.delete(name);
    windows.set(name, fresh);
    const [oldest] = windows.keys();
    if (windows.size > maxNames && oldest !== undefined) windows.delete(oldest);
    return fresh;
  }

  return {
    take(counts, nowMs) {
      const found = counts.map(({ name, perMinute }) => ({ window: windowOf(name, nowMs), perMinute }));
      if (found.some(({ window, perMinute }) => window.count >= perMinute)) return false;
      for (const { window } of found) window.count += 1;
      return true;
    },
  };
}
