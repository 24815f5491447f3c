import { byCodePoint } from "../../config/diagnostic.ts";
import { fieldsOf, isFields, listOf, textOf } from "../../config/untyped.ts";
import type { Problem } from "./problem.ts";

/** One condition of a status, as Kubernetes has them. */
export interface Condition {
  readonly type: string;
  readonly status: "True" | "False" | "Unknown";
  /** Absent: whoever wrote it did not say. */
  readonly observedGeneration?: number;
  readonly reason: string;
  readonly message: string;
  /** Of one that an object has already, as long as its status stays; whoever writes a new one knows the time. */
  readonly lastTransitionTime?: string;
}

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
 * The conditions of an object or a part of it: those that it has already keep their places, new ones follow by type.
 *
 * @param existing of its status as it is now; nobody has validated it
 * @see istio 1.30.3 pilot/pkg/config/kube/gateway/conditions.go, setConditions
 */
export function conditions(generation: number, existing: unknown, drafts: Drafts): readonly Condition[] {
  const result = listOf(existing).filter(isFields).map(conditionOf);
  for (const type of Object.keys(drafts).sort(byCodePoint)) {
    const draft = drafts[type];
    if (draft === undefined) continue;
    const at = result.findIndex((condition) => condition.type === type);
    const condition = settled(generation, type, draft, result[at]);
    if (at < 0) result.push(condition);
    else result[at] = condition;
  }
  return result;
}

function settled(generation: number, type: string, draft: Draft, before: Condition | undefined): Condition {
  const { status = "True", problem } = draft;
  const { reason, message } = problem ?? draft;
  const now = problem === undefined ? status : status === "False" ? "True" : "False";
  const since = before?.status === now ? before.lastTransitionTime : undefined;
  return {
    type,
    status: now,
    observedGeneration: generation,
    reason,
    message,
    ...(since === undefined ? {} : { lastTransitionTime: since }),
  };
}

function conditionOf(written: unknown): Condition {
  const { type, status, observedGeneration, reason, message, lastTransitionTime } = fieldsOf(written);
  return {
    type: textOf(type),
    status: status === "True" || status === "False" ? status : "Unknown",
    ...(typeof observedGeneration === "number" ? { observedGeneration } : {}),
    reason: textOf(reason),
    message: textOf(message),
    ...(typeof lastTransitionTime === "string" ? { lastTransitionTime } : {}),
  };
}
