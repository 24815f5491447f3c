import type { Limits } from "../../limits/limits.ts";

/** Limits of all that one front does at a time; all others are of one request, one node or one answer. */
const totals = [
  "bodiesBytes",
  "connections",
  "calls",
  "discoveryStreams",
  "answersBytes",
  "sharedBytes",
  "knownPollBytes",
  "heldBytes",
  "watchedBytes",
  "refusalBytes",
  "statusBytes",
  "countedUrlBytes",
] as const satisfies readonly (keyof Limits)[];

/** What one request may take of a total has to fit into the share. */
const leastBytes = 8 * 1024 * 1024;
const least: Readonly<Partial<Record<keyof Limits, number>>> = {
  bodiesBytes: leastBytes,
  answersBytes: leastBytes,
  watchedBytes: 2 * leastBytes,
};

/** The limits of one of several processes that serve as one: together they take what one front may. */
export function shareOfLimits(limits: Limits, processes: number): Limits {
  const shares = totals.map((name) => {
    const share = Math.max(Math.ceil(limits[name] / processes), Math.min(least[name] ?? 1, limits[name]));
    return [name, share] as const;
  });
  return { ...limits, ...Object.fromEntries(shares) };
}
