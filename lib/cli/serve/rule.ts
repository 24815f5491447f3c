import type { Path } from "../../config/finding.ts";

/** What `portolan serve` runs. */
export const parts = ["front", "compile", "collectors", "admission"] as const;
export type Part = (typeof parts)[number];

/** Something of settings that has to be right before anything is started. */
export interface Rule {
  readonly path: Path;
  /** It is about processes that run all of these; absent: about any. */
  readonly parts?: readonly Part[];
  /** Other fields that count. */
  readonly reads?: readonly string[];
  /** @throws PortolanError, or InvalidArgumentError, in the words of variables */
  readonly check: () => unknown;
}
