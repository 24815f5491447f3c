import type { NodeClaims } from "../../base/classifier.ts";
import { type Caller, misfit } from "../auth/caller.ts";
import type { Outcome } from "../metrics.ts";
import type { Placement } from "../nodes/place-node.ts";

/** A request that gets no resources, and why. Never with a status that an Envoy would take for an answer. */
export interface Refused {
  readonly kind: "refused";
  readonly outcome: Outcome;
  readonly status: 400 | 403 | 404 | 410 | 413 | 415 | 503;
  readonly reason: string;
}

export const refuse = (status: Refused["status"], outcome: Outcome, reason: string): Refused => ({
  kind: "refused",
  status,
  outcome,
  reason,
});

/** What is said to a node that has no place. */
export const refuseUnplaced = ({ kind, reason }: Exclude<Placement, { readonly kind: "placed" }>): Refused =>
  kind === "forbidden"
    ? refuse(403, "forbidden", reason)
    : kind === "pending"
      ? refuse(503, "pending", reason)
      : refuse(404, "unknown-node", reason);

/** To be asked before anything is remembered of a node: nobody says what another one has. @returns undefined for whoever may be it */
export function refuseMisfit(caller: Caller, claims: NodeClaims): Refused | undefined {
  const reason = misfit(caller, claims);
  return reason === undefined ? undefined : refuse(403, "forbidden", reason);
}

export const noRoomForAnswer = "too many answers are under way; try again";
