/** How long a front goes without reading HEAD again, and how long it waits for a read. */
export interface ReadPauses {
  /** From one look at the store to the next, in milliseconds. */
  currentMs(): number;
  /** How long the request that begins a read waits for it, in milliseconds; undefined while the store answers as it should. */
  patienceMs(): number | undefined;
  /** A read failed, was throttled, or has taken too long. */
  failed(): void;
  succeeded(): void;
}

const leastMs = 1_000;
const mostMs = 30_000;
/** Below this the store is taken to be well again: three reads after the pauses have ended. */
const wellMs = 125;

const leastPatienceMs = 200;
const mostPatienceMs = 2_000;

/**
 * Pauses that double with each failed read, up to 30 s, and halve with each that succeeds: thousands of processes that a store throttles come
 * down to what it bears, and stay there, where a pause that is forgotten at once would throttle them again a second later. They differ by
 * chance, so that the processes do not come back together.
 *
 * One request in a pause gives its read an eighth of the pause, and no other waits. At the edge a read ends with the request that began
 * it: without any time it would never succeed, and the rarer reads are, the more time they may have.
 *
 * @param usualMs from one read to the next while the store answers
 * @param random from 0 to below 1
 */
export function createReadPauses(usualMs: number, random: () => number): ReadPauses {
  let pauseMs = 0;
  let chosenMs = usualMs;
  const choose = (ms: number) => {
    pauseMs = ms;
    chosenMs = ms < leastMs ? usualMs : Math.max(usualMs, ms * (0.5 + random() / 2));
  };
  return {
    currentMs: () => chosenMs,
    patienceMs: () => (pauseMs === 0 ? undefined : Math.min(Math.max(pauseMs / 8, leastPatienceMs), mostPatienceMs)),
    failed: () => choose(Math.min(Math.max(2 * pauseMs, leastMs), mostMs)),
    succeeded: () => choose(pauseMs / 2 < wellMs ? 0 : pauseMs / 2),
  };
}
