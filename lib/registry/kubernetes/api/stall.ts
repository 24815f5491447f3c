/** Ends a request that says nothing for too long. */
export interface Stall {
  /** Aborted when nothing was heard for so long, and when the given signal is. */
  readonly signal: AbortSignal;
  heard(): void;
  /** From now on it may be quiet. */
  end(): void;
}

export function createStall(ms: number, signal: AbortSignal): Stall {
  const quiet = new AbortController();
  let timer = setTimeout(() => quiet.abort(), ms);
  return {
    signal: AbortSignal.any([signal, quiet.signal]),
    heard() {
      clearTimeout(timer);
      timer = setTimeout(() => quiet.abort(), ms);
    },
    end: () => clearTimeout(timer),
  };
}
