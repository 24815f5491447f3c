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
