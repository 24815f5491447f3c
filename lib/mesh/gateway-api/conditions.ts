import { byCodePoint } from "../../base/diagnostic.ts";
import type { Condition } from "../../config/gateway-api/status/status.ts";
import type { Problem } from "./problem.ts";

/** What a condition says if nothing is wrong, and what is. */
export interface Draft {
  readonly reason: string;
  readonly message: string;
  /** If nothing is wrong; absent: True. */
  readonly status?: "True" | "False";
  readonly problem?: Problem | undefined;
}

/** By type. */
export type Drafts = Readonly<Record<string, Draft>>;

/**
 * The conditions that drafts stand for, by type.
 * @see istio 1.30.3 pilot/pkg/config/kube/gateway/conditions.go, setConditions
 */
export function conditions(generation: number, drafts: Drafts): readonly Condition[] {
  return Object.entries(drafts)
    .sort(([a], [b]) => byCodePoint(a, b))
    .map(([type, draft]) => settled(generation, type, draft));
}

function settled(generation: number, type: string, draft: Draft): Condition {
  const { status = "True", problem } = draft;
  const { reason, message } = problem ?? draft;
  const now = problem === undefined ? status : status === "False" ? "True" : "False";
  return { type, status: now, observedGeneration: generation, reason, message };
}
