import type { BodyReader } from "../../limits/read-body.ts";
import type { Caller } from "../auth/caller.ts";

/** Who asks, and for how long. */
export interface Sender {
  readonly caller: Caller;
  /** How long the node says it will wait, from `x-envoy-expected-rq-timeout-ms`; 0 when it does not say. */
  readonly patienceMs: number;
  /** Fires when whoever asked has gone away. Asked for only where something waits. */
  readonly signal: () => AbortSignal | undefined;
}

/** What is known of a request besides its path. */
export interface Asking extends Sender {
  readonly body: BodyReader;
}
