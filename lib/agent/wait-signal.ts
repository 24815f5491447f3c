/** Ends the wait of one waiter when an event happened, also if it happened before the wait. */
export interface WaitSignal {
  ring(): void;
  /** @returns when it was rung, or the time is up */
  wait(timeoutMs: number): Promise<void>;
}

export function createWaitSignal(): WaitSignal {
  let isRung = false;
  let go: (() => void) | undefined;
  return {
    ring() {
      isRung = true;
      go?.();
    },
    async wait(timeoutMs) {
      if (!isRung && timeoutMs > 0) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, timeoutMs);
          go = () => {
            clearTimeout(timer);
            resolve();
          };
        });
      }
      go = undefined;
      isRung = false;
    },
  };
}
