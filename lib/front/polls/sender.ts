import { callerOf } from "../auth/admit.ts";
import type { Caller } from "../auth/caller.ts";
import type { Asked } from "../requests/routes.ts";

/** Who asks, and for how long. */
export interface Sender {
  readonly caller: Caller;
  /** How long the node says it will wait; 0 when it does not say. */
  readonly patienceMs: number;
  /** Fires when whoever asked has gone away. Asked for only where something waits. */
  readonly signal: () => AbortSignal | undefined;
}

/** Headers that say how long whoever asks will wait, in milliseconds: Envoy's, and Connect's. */
export const patienceHeaders = { envoy: "x-envoy-expected-rq-timeout-ms", connect: "connect-timeout-ms" } as const;

/** @param patience header that says how long; absent: the request does not wait */
export const senderOf = (asked: Asked, patience?: string): Sender => ({
  caller: callerOf(asked),
  patienceMs: patience === undefined ? 0 : Number(asked.request.header(patience)) || 0,
  signal: asked.request.signal,
});
