/** Lets one who waits go when something has happened, also when it happened before. */
export interface Wake {
  ring(): void;
  /** @returns when it was rung, or the time is up */
  wait(timeoutMs: number): Promise<void>;
}

export function createWake(): Wake {
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
