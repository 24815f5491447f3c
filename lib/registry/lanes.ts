/** Lets so many things be done at once as there may be, in the order in which they came. */
export interface Lanes {
  /** Does it when there is one for it, or at once when the signal says stop: it knows by that what to do. */
  run<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T>;
}

/** @param width how many lanes there are at once */
export function createLanes(width: number): Lanes {
  let free = width;
  const waiting = new Set<() => void>();
  const begin = (signal: AbortSignal): Promise<void> | undefined => {
    if (free > 0 || signal.aborted) {
      free -= 1;
      return undefined;
    }
    return new Promise((resolve) => {
      const settle = (): void => {
        waiting.delete(settle);
        signal.removeEventListener("abort", settle);
        free -= 1;
        resolve();
      };
      waiting.add(settle);
      signal.addEventListener("abort", settle);
    });
  };
  return {
    async run(work, signal) {
      await begin(signal);
      try {
        return await work();
      } finally {
        free += 1;
        const [next] = waiting;
        if (free > 0) next?.();
      }
    },
  };
}
