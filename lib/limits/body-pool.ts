import { type Budget, createBudget } from "./budget.ts";
import type { Limits } from "./limits.ts";

/** What is beyond `ownBytes` of all bodies being read: a few large ones cannot take the memory of all others. */
export interface BodyPool extends Budget {
  /** Part of a body that is not counted: the number of connections bounds it. */
  readonly ownBytes: number;
}

export function createBodyPool({ ownBodyBytes, bodiesBytes }: Pick<Limits, "ownBodyBytes" | "bodiesBytes">): BodyPool {
  return { ownBytes: ownBodyBytes, ...createBudget(bodiesBytes) };
}
