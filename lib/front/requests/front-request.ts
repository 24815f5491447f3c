import type { BodyLimits, ReadBody } from "../../limits/read-body.ts";
import type { Credentials } from "../auth/authentication.ts";

/** A request, whichever server it comes through. Nothing of its body is read before a handler's limits are known. */
export interface FrontRequest extends Credentials {
  readonly method: string;
  /** Path and query as a URL has them, without dots as segments, origin or fragment: `/v3/head?x=1`. */
  readonly target: string;
  /** Reads the body within limits. Called once at most; `take` is called once, also for a body that is refused. */
  body(limits: BodyLimits, take: (body: ReadBody) => void): void;
  /** The body as it comes, in place of `body`; whoever reads it keeps the limits. */
  chunks(): AsyncIterable<Uint8Array> | null;
  /** All headers. */
  headers(): Headers;
  /** Fires when whoever asked has gone away. Asked for only where something waits. */
  signal(): AbortSignal | undefined;
}
