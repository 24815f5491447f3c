/** The body of an answer that is read while it is sent. */
export interface Pieces {
  chunks(): AsyncIterable<Uint8Array>;
  /** All of it, where it lies in memory already. */
  readonly whole?: Uint8Array<ArrayBuffer>;
  /** `whole` is kept for other readers too, so no reader holds room by taking it slowly. */
  readonly isShared?: boolean;
  /** Size of all of it, where that is known. */
  readonly bytes?: number;
  /** Called once the reader has it, or has gone away. It may be called more than once. */
  readonly sent?: () => void;
}

/** An answer to a request, for whichever server sends it. */
export interface Answer {
  readonly status: number;
  /** Names are lower-case. */
  readonly headers: Readonly<Record<string, string>>;
  /** undefined: none. */
  readonly body?: string | Pieces;
}

/** Something at once, or later: to wait a moment for nothing costs a tenth of the answer to a small poll. */
export type Sooner<T> = T | Promise<T>;

export const noHeaders: Answer["headers"] = {};

/** An error that says what is wrong; RFC 9457. */
export function problem(status: number, detail: string, headers: Answer["headers"] = noHeaders): Answer {
  return {
    status,
    headers: { ...retryAfter(status), ...headers, "content-type": "application/problem+json" },
    body: `${JSON.stringify({ status, detail })}\n`,
  };
}

/** Whoever comes at a bad moment is told, in seconds, to try again soon. */
export function retryAfter(status: number): Answer["headers"] {
  return status === 503 ? { "retry-after": "1" } : noHeaders;
}

export const jsonAnswer = (value: object): Answer => ({
  status: 200,
  headers: { "content-type": "application/json" },
  body: JSON.stringify(value),
});

export const textAnswer = (body: string, status = 200): Answer => ({
  status,
  headers: { ...retryAfter(status), "content-type": "text/plain; charset=UTF-8" },
  body,
});

export const changedHeaders = (bytes: number) => ({
  "content-type": "application/json",
  "content-length": String(bytes),
});

/** An answer that lies in memory whole for one reader. @param sent called when its reader has it, or has gone away */
export function wholeAnswer(
  whole: Uint8Array<ArrayBuffer>,
  { status, headers }: Pick<Answer, "status" | "headers">,
  sent: () => void,
): Answer {
  return {
    status,
    headers: { ...headers, "content-length": String(whole.length) },
    body: {
      bytes: whole.length,
      whole,
      sent,
      async *chunks() {
        yield whole;
      },
    },
  };
}

/** All of a body in one piece. */
export async function wholeOf({
  bytes,
  chunks,
}: Pick<Pieces, "chunks"> & { readonly bytes: number }): Promise<Uint8Array<ArrayBuffer>> {
  const whole = new Uint8Array(bytes);
  let offset = 0;
  for await (const chunk of chunks()) {
    whole.set(chunk, offset);
    offset += chunk.length;
  }
  return whole;
}

/** The answer to HEAD where GET has this one. */
export function withoutBody({ body, ...answer }: Answer): Answer {
  if (typeof body === "object") body.sent?.();
  return answer;
}
