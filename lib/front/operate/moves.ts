import type { Head } from "../../snapshot/root.ts";

/** A move of HEAD that an operator asks for. */
export type Move =
  | { readonly kind: "rollback"; readonly to: string }
  | { readonly kind: "unpin" }
  | { readonly kind: "promote" }
  | { readonly kind: "abort" };

/** Moves HEAD for operators. A port: a front that may write HEAD has it, others only read. */
export interface Moves {
  /**
   * @param word.seen generation of the HEAD that the operator has seen: a condition of the write
   * @throws HeadMoved where HEAD is another one; PortolanError when the move cannot be done
   */
  move(
    move: Move,
    auditInfo: { readonly by: string; readonly why: string; readonly seen: number },
  ): Promise<{ readonly head: Head; readonly root: string; readonly left?: string }>;
}
