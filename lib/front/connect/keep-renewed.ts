import { isDeepStrictEqual } from "node:util";

/** A value that is read again and again while a server runs. */
export interface Renewed<T> {
  readonly first: T;
  /** @param apply is called with each value that differs from the one before */
  follow(apply: (value: T) => void): void;
  close(): void;
}

/** A value as it was read, and when to read it again. */
export interface ReadValue<T> {
  readonly value: T;
  readonly againMs: number;
}

/** How often a wait checks the wall clock: timers stop while the machine is suspended, and do not follow a clock that is set. */
const sliceMs = 60_000;

/** A clock that is behind a timer by so much has been set back. */
const stepMs = 1_000;

/**
 * Keeps a value new. One that cannot be read or applied leaves the one before in use, and is read again after `retryMs`.
 * It is read at once where the wall clock was set back: a certificate of before could be one for later.
 *
 * @throws what the first reading throws
 */
export async function keepRenewed<T>(
  read: () => Promise<ReadValue<T>>,
  { retryMs, onError }: { readonly retryMs: number; readonly onError: (cause: unknown) => void },
): Promise<Renewed<T>> {
  const first = await read();
  let used = first.value;
  let timer: NodeJS.Timeout | undefined;
  const later = (ms: number, apply: (value: T) => void) => {
    const [fromMs, sleepMs] = [Date.now(), Math.min(ms, sliceMs)];
    timer = setTimeout(() => {
      const goneMs = Date.now() - fromMs;
      const leftMs = ms - Math.max(goneMs, sleepMs);
      if (leftMs > 0 && goneMs >= sleepMs - stepMs) return later(leftMs, apply);
      renew(apply).then(
        (againMs) => timer !== undefined && later(againMs, apply),
        (cause: unknown) => {
          onError(cause);
          if (timer !== undefined) later(retryMs, apply);
        },
      );
    }, sleepMs).unref();
  };
  const renew = async (apply: (value: T) => void) => {
    const { value, againMs } = await read();
    if (!isDeepStrictEqual(value, used)) apply(value);
    used = value;
    return againMs;
  };
  return {
    first: first.value,
    follow: (apply) => later(first.againMs, apply),
    close() {
      clearTimeout(timer);
      timer = undefined;
    },
  };
}
