import type { Moves } from "../../front/operate/moves.ts";
import { storeMoves } from "../../front/operate/store-moves.ts";
import type { OperatorOptions } from "../../snapshot/head/head-operations.ts";
import type { ObjectStore } from "../../storage/object-store.ts";
import { openRollout } from "../rollout.ts";

/**
 * Moves HEAD for operators of a front. A rollback compiles in this process; promote, abort and unpin lead to what was compiled already.
 *
 * @param options keys, and the pace of steps
 */
export function rolloutMoves(store: ObjectStore, options: OperatorOptions = {}): Moves {
  const { move: moveInStore } = storeMoves(store, options);
  return {
    async move(move, auditInfo) {
      if (move.kind !== "rollback") return moveInStore(move, auditInfo);
      const rollout = await openRollout(store, options);
      return rollout.rollback(move.to, auditInfo);
    },
  };
}
