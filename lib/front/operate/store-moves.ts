import { unreachable } from "../../base/diagnostic.ts";
import {
  abortCanary,
  type OperatorOptions,
  promoteCanary,
  rollback,
  unpin,
} from "../../snapshot/head/head-operations.ts";
import type { ObjectStore } from "../../storage/object-store.ts";
import type { Moves } from "./moves.ts";

/** Moves HEAD in a store that may be written, as the command line does. @param options keys, and the pace of steps */
export function storeMoves(store: ObjectStore, options: OperatorOptions = {}): Moves {
  return {
    move(move, auditInfo) {
      const asked = { ...options, ...auditInfo };
      switch (move.kind) {
        case "rollback":
          return rollback(store, move.to, asked);
        case "unpin":
          return unpin(store, asked);
        case "promote":
          return promoteCanary(store, asked);
        case "abort":
          return abortCanary(store, asked);
        default:
          return unreachable(move);
      }
    },
  };
}
