import type { V1Answer, V1Request } from "./v1-request.ts";

/**
 * Stored answers and their counters, as the release shows them under `/cache_stats`.
 * @see docs/how-istio-does-it/legacy-v1.md#cache
 */
export interface AnswerCache<Stored extends { readonly answer: V1Answer }> {
  /** What is stored for a request; a hit is counted. */
  find(request: V1Request): Stored | undefined;
  /** Stores an answer and counts a miss; an answer without any resource is not stored and not counted. */
  keep(request: V1Request, made: Stored): void;
  /**
   * Something changed: what is stored goes, counters and keys stay. A second change within the squash time of the last
   * clearing waits for as long again, and all that come meanwhile are part of it.
   */
  clear(): void;
  /** Zeroes the counters; keys stay. */
  resetCounters(): void;
  /** By URL, the four kinds of documents together. */
  statistics(): { readonly cache_stats: Readonly<Record<string, CacheCounters>> };
}

export interface CacheCounters {
  readonly hit: number;
  readonly miss: number;
}

interface Entry<Stored> {
  stored: Stored | undefined;
  hit: number;
  miss: number;
}

/**
 * A cache that lives as long as its owner.
 *
 * @param now milliseconds of any clock that does not go back
 * @param squashMs how long changes are gathered after a clearing; the release takes a second
 * @param maxBytes of URLs, about; those that were asked for longest ago are forgotten, counters too
 */
export function createAnswerCache<Stored extends { readonly answer: V1Answer }>(
  now: () => number,
  squashMs = 1000,
  maxBytes = Number.POSITIVE_INFINITY,
): AnswerCache<Stored> {
  const entries = new Map<string, Entry<Stored>>();
  let bytes = 0;
  let clearedAtMs = Number.NEGATIVE_INFINITY;
  let dueAtMs = Number.POSITIVE_INFINITY;
  const drop = (atMs: number): void => {
    clearedAtMs = atMs;
    dueAtMs = Number.POSITIVE_INFINITY;
    for (const entry of entries.values()) entry.stored = undefined;
  };
  return {
    find: (request) => {
      if (now() >= dueAtMs) drop(dueAtMs);
      const url = cacheKey(request.path);
      const entry = entries.get(url);
      if (entry?.stored === undefined) return undefined;
      entry.hit++;
      entries.delete(url);
      entries.set(url, entry);
      return entry.stored;
    },
    keep: (request, made) => {
      if ((made.answer.document?.resources ?? 0) === 0) return;
      const url = cacheKey(request.path);
      const known = entries.get(url);
      const entry = known ?? { stored: undefined, hit: 0, miss: 0 };
      entry.stored = made;
      entry.miss++;
      if (known !== undefined) return;
      entries.set(ownCopy(url), entry);
      bytes += costOf(url);
      for (const oldest of entries.keys()) {
        if (bytes <= maxBytes) break;
        entries.delete(oldest);
        bytes -= costOf(oldest);
      }
    },
    clear: () => {
      const atMs = now();
      if (atMs - clearedAtMs >= squashMs) drop(atMs);
      else dueAtMs = Math.min(dueAtMs, atMs + squashMs);
    },
    resetCounters: () => {
      for (const entry of entries.values()) {
        entry.hit = 0;
        entry.miss = 0;
      }
    },
    statistics: () => ({
      cache_stats: Object.fromEntries([...entries].map(([url, { hit, miss }]) => [url, { hit, miss }])),
    }),
  };
}

/** A URL, and what is counted for it. */
const costOf = (url: string): number => url.length * 2 + 200;

/** A text of its own: a part of a longer one would keep all of that in memory. */
const ownCopy = (text: string): string => JSON.parse(JSON.stringify(text));

/** The URL after normal re-encoding: a bar is written as `%7C`, whichever way it was sent. */
function cacheKey(path: string): string {
  const at = path.indexOf("?");
  const [rawPath, query] = at === -1 ? [path, ""] : [path.slice(0, at), path.slice(at)];
  return `${rawPath.replaceAll("|", "%7C").replaceAll(/%7c/g, "%7C")}${query}`;
}
