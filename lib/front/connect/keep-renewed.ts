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

/**
 * Keeps a value new. One that cannot be read or applied leaves the one before in use, and is read again after `retryMs`.
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
    timer = setTimeout(() => {
      renew(apply).then(
        (againMs) => timer !== undefined && later(againMs, apply),
        (cause: unknown) => {
          onError(cause);
          if (timer !== undefined) later(retryMs, apply);
        },
      );
    }, ms).unref();
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
