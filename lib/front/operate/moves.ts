import type { Head } from "../../snapshot/root.ts";

/** A move of HEAD that an operator asks for. */
export type Move =
  | { readonly kind: "rollback"; readonly to: string }
  | { readonly kind: "unpin" }
  | { readonly kind: "promote" }
  | { readonly kind: "abort" };

/** Moves HEAD for operators. A port: a front that may write HEAD has it, others only read. */
export interface Moves {
  /** @throws PortolanError when it cannot be done, or another operator came in between */
  move(
    move: Move,
    word: { readonly by: string; readonly why: string },
  ): Promise<{ readonly head: Head; readonly root: string; readonly left?: string }>;
}
