/** How a source waits between attempts. Handed in, so that tests need neither time nor luck. */
export interface Pace {
  /** Resolves after the time, or at once when the signal says stop. */
  pause(milliseconds: number, signal: AbortSignal): Promise<void>;
  /** Milliseconds before the attempt after so many failures in a row (1, 2, …). */
  backOff(failures: number): number;
}

const firstMs = 500;
const longestMs = 30_000;

/** Half a second, doubled up to half a minute, of which a random half is left out so that clients do not march in step. */
export const defaultPace: Pace = {
  pause: (milliseconds, signal) =>
    new Promise((resolve) => {
      if (signal.aborted) return resolve();
      const finish = (): void => {
        clearTimeout(timer);
        signal.removeEventListener("abort", finish);
        resolve();
      };
      const timer = setTimeout(finish, milliseconds);
      signal.addEventListener("abort", finish);
    }),
  backOff: (failures) => Math.min(longestMs, firstMs * 2 ** (failures - 1)) * (0.5 + Math.random() / 2),
};

/** Something that can be waited for and announced; announcements before the wait are not lost, several are one. */
export interface Bell {
  ring(): void;
  /** Resolves at the next ring, or at once if it rang since the last wait. */
  next(): Promise<void>;
}

export function createBell(): Bell {
  let rung = false;
  let wake: (() => void) | undefined;
  return {
    ring() {
      rung = true;
      wake?.();
    },
    async next() {
      if (!rung) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
        wake = undefined;
      }
      rung = false;
    },
  };
}
