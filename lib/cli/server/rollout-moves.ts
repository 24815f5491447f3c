import type { Moves } from "../../front/operate/moves.ts";
import { storeMoves } from "../../front/operate/store-moves.ts";
import type { OperatorOptions } from "../../snapshot/head/head-operations.ts";
import type { ObjectStore } from "../../storage/object-store.ts";
import { ownBuild } from "../own-build.ts";

/**
 * Moves HEAD for operators of a front. A rollback compiles in this process; promote, abort and unpin lead to what was compiled already.
 *
 * @param options keys, and the pace of steps
 */
export function rolloutMoves(store: ObjectStore, options: OperatorOptions = {}): Moves {
  const { move: moveInStore } = storeMoves(store, options);
  return {
    async move(move, word) {
      if (move.kind !== "rollback") return moveInStore(move, word);
      // A front that nobody rolls back does without the memory that a compiler takes.
      const { createRollout } = await import("../../compile/rollout.ts");
      const rollout = createRollout({ store, publisher: options, build: await ownBuild() });
      return rollout.rollback(move.to, word);
    },
  };
}
