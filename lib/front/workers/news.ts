/** Told again, it is news no more for as long. */
const staleMs = 900_000;

/** More at a time are all news: nobody fills memory with names that he makes up. */
const most = 2_000;

/** Tells what is said for the first time from what several processes say. */
export function createNews(now: () => number): (what: string) => boolean {
  /** What was said first comes first. */
  const said = new Map<string, number>();
  return (what) => {
    for (const [oldest, saidMs] of said) {
      if (said.size <= most && now() - saidMs < staleMs) break;
      said.delete(oldest);
    }
    if (said.has(what)) return false;
    said.set(what, now());
    return true;
  };
}
