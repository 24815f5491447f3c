/** So many bytes in memory at a time. Whoever finds no room waits for it, in order of coming. */
export interface Semaphore {
  /**
   * @returns to be called when the bytes are not needed any more; a second call does nothing
   * @throws the signal's reason when it fires while waiting
   */
  enter(bytes: number, signal?: AbortSignal): Promise<() => void>;
  /** The same without waiting; undefined when there is no room. */
  tryEnter(bytes: number): (() => void) | undefined;
}

interface Waiter {
  readonly bytes: number;
  readonly letIn: () => void;
}

/** What is larger than the whole gate passes alone. */
export function createSemaphore(totalBytes: number): Semaphore {
  let inside = 0;
  const waiting = new Set<Waiter>();
  const hasRoom = (bytes: number) => inside === 0 || inside + bytes <= totalBytes;

  function admit(bytes: number): () => void {
    inside += bytes;
    let left = false;
    return () => {
      if (left) return;
      left = true;
      inside -= bytes;
      for (const waiter of waiting) {
        if (!hasRoom(waiter.bytes)) return;
        waiting.delete(waiter);
        waiter.letIn();
      }
    };
  }

  const tryEnter = (bytes: number) => (waiting.size === 0 && hasRoom(bytes) ? admit(bytes) : undefined);
  return {
    tryEnter,
    async enter(bytes, signal) {
      signal?.throwIfAborted();
      const entered = tryEnter(bytes);
      if (entered !== undefined) return entered;
      return new Promise((resolve, reject) => {
        const giveUp = () => {
          waiting.delete(waiter);
          reject(signal?.reason);
        };
        const waiter: Waiter = {
          bytes,
          letIn: () => {
            signal?.removeEventListener("abort", giveUp);
            resolve(admit(bytes));
          },
        };
        waiting.add(waiter);
        signal?.addEventListener("abort", giveUp, { once: true });
      });
    },
  };
}
