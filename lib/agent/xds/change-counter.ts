/** Counts changes, and lets callers wait for the next one. */
export interface ChangeCounter {
  count(): number;
  /** Counts one more, and ends all waits. */
  changed(): void;
  /** Waits until the count is another one, the time is over or the signal fires. */
  wait(count: number, timeoutMs: number, signal: AbortSignal): Promise<void>;
}

export function createChangeCounter(): ChangeCounter {
  let count = 0;
  const waiting = new Set<() => void>();
  return {
    count: () => count,
    changed() {
      count += 1;
      for (const end of waiting) end();
    },
    wait: (from, timeoutMs, signal) =>
      new Promise((resolve) => {
        if (from !== count || signal.aborted) return resolve();
        const end = () => {
          clearTimeout(timer);
          waiting.delete(end);
          signal.removeEventListener("abort", end);
          resolve();
        };
        const timer = setTimeout(end, timeoutMs);
        waiting.add(end);
        signal.addEventListener("abort", end);
      }),
  };
}
