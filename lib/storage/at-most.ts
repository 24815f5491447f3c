/** Runs what it is given, so many at a time; the others wait for their turn. */
export type AtMost = <T>(act: () => Promise<T>) => Promise<T>;

export function atMost(count: number): AtMost {
  let running = 0;
  const waiting: (() => void)[] = [];
  return async (act) => {
    // Whoever ends hands his place on, so that nobody who comes later goes before.
    if (running < count) running += 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await act();
    } finally {
      const next = waiting.shift();
      if (next === undefined) running -= 1;
      else next();
    }
  };
}
