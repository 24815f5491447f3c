/** Lets so many things be done at once as there may be, in the order in which they came. */
export interface Lanes {
  /**
   * Does it when there is one for it, or at once when the signal says stop: it knows by that what to do.
   *
   * @param isAwaited others cannot go on before it is done: it goes before everything that is not; false when absent
   */
  run<T>(work: () => Promise<T>, signal: AbortSignal, isAwaited?: boolean): Promise<T>;
}

/** @param width how many lanes there are at once */
export function createLanes(width: number): Lanes {
  let free = width;
  const awaited = new Set<() => void>();
  const others = new Set<() => void>();
  const begin = (signal: AbortSignal, queue: Set<() => void>): Promise<void> | undefined => {
    if (free > 0 || signal.aborted) {
      free -= 1;
      return undefined;
    }
    return new Promise((resolve) => {
      const settle = (): void => {
        queue.delete(settle);
        signal.removeEventListener("abort", settle);
        free -= 1;
        resolve();
      };
      queue.add(settle);
      signal.addEventListener("abort", settle);
    });
  };
  return {
    async run(work, signal, isAwaited = false) {
      await begin(signal, isAwaited ? awaited : others);
      try {
        return await work();
      } finally {
        free += 1;
        const [next] = awaited.size > 0 ? awaited : others;
        if (free > 0) next?.();
      }
    },
  };
}
