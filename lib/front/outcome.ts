import type { Outcome } from "./metrics.ts";

/** A request that gets no resources, and why. Never with a status that an Envoy would take for an answer. */
export interface Refused {
  readonly kind: "refused";
  readonly outcome: Outcome;
  readonly status: 400 | 404 | 413 | 415 | 503;
  readonly reason: string;
}

export const refuse = (status: Refused["status"], outcome: Outcome, reason: string): Refused => ({
  kind: "refused",
  status,
  outcome,
  reason,
});
