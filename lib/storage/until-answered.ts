import { PortolanError } from "../base/diagnostic.ts";

/** One request, as often as it has to be made. */
export interface RepeatableRequest<T> {
  /** How long one attempt may take, body and all. */
  readonly timeoutMs: number;
  /** @param isRepeat whether an attempt before may have been carried out without an answer that was read */
  send(signal: AbortSignal, isRepeat: boolean): Promise<T>;
  /** Called when an attempt got no answer, before the next one. */
  readonly onSilence?: () => void;
  /** Whether an error is likely gone after a pause, such as throttling or a broken connection. Without it no error is. */
  readonly isPassing?: (cause: unknown) => boolean;
}

const maxAttempts = 3;
/** After a pause that doubles from here, give or take half of it. */
const maxPauses = 4;
const firstPauseMs = 250;

/**
 * Makes a request until it is answered. What the server answers, errors too, is the answer, except for errors that pass; silence is tried
 * again on another connection, since those that are open may all be dead.
 *
 * @throws PortolanError when there was no answer to any attempt
 */
export async function untilAnswered<T>({ timeoutMs, send, onSilence, isPassing }: RepeatableRequest<T>): Promise<T> {
  let silences = 0;
  for (let pauses = 0; ; ) {
    const silence = new AbortController();
    const timer = setTimeout(() => silence.abort(), timeoutMs);
    try {
      return await orAborted(send(silence.signal, silences + pauses > 0), silence.signal);
    } catch (cause) {
      if (silence.signal.aborted) {
        silences += 1;
        if (silences === maxAttempts) break;
        onSilence?.();
      } else {
        if (isPassing?.(cause) !== true || pauses === maxPauses) throw cause;
        await new Promise((resolve) => setTimeout(resolve, firstPauseMs * 2 ** pauses * (0.5 + Math.random())));
        pauses += 1;
      }
    } finally {
      clearTimeout(timer);
    }
  }
  throw new PortolanError(`no answer within ${(maxAttempts * timeoutMs) / 1_000} s`);
}

/** A body that has begun to come does not hear of the signal. */
function orAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    signal.addEventListener("abort", () => reject(new Error("given up")), { once: true });
    promise.then(resolve, reject);
  });
}
