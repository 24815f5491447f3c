import type { CollectionState, McpPush } from "./collection-state.ts";

/** The answer to a push; absent: it was taken. */
export interface Refusal {
  /** As gRPC numbers its codes. */
  readonly code: number;
  readonly message: string;
}

/** What a stream asks for, and whom it tells. */
export interface StreamOptions {
  /** How this sink calls itself. */
  readonly node: string;
  readonly subscriptions: readonly string[];
  /** What is held of a subscription already: a source may leave out what it would repeat. */
  readonly held: (subscription: string) => CollectionState;
  /** @returns why the push is refused, if it is */
  readonly onPush: (push: McpPush) => Refusal | undefined;
}

/** One stream to a source, until it ends. @throws ConnectError when it breaks, or cannot be opened */
export type McpStream = (options: StreamOptions, signal: AbortSignal) => Promise<void>;

/** Requests on their way into a stream: those of the beginning, and one for each push. */
export interface Outbox<T> extends AsyncIterable<T> {
  send(request: T): void;
  close(): void;
}

export function createOutbox<T>(): Outbox<T> {
  const waiting: T[] = [];
  let isClosed = false;
  let wake: (() => void) | undefined;
  const ring = () => {
    wake?.();
    wake = undefined;
  };
  return {
    send(request) {
      waiting.push(request);
      ring();
    },
    close() {
      isClosed = true;
      ring();
    },
    async *[Symbol.asyncIterator]() {
      while (!isClosed) {
        const next = waiting.shift();
        if (next !== undefined) yield next;
        else {
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
        }
      }
    },
  };
}
