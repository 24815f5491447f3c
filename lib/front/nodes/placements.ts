import type { NodeClaims } from "../../base/classifier.ts";
import type { LoadedRoot } from "../../snapshot/reader/loaded.ts";
import type { SnapshotReader } from "../../snapshot/reader/snapshot-reader.ts";
import type { Caller } from "../auth/caller.ts";
import { type Placement, placeNode } from "./place-node.ts";

/** Class assignments of nodes, by object identity of their inputs: repeated polls bring the same objects. */
export interface Placements {
  /** undefined if it is not known yet. */
  of(loaded: LoadedRoot, claims: NodeClaims, caller: Caller): Placement | undefined;
  find(loaded: LoadedRoot, claims: NodeClaims, caller: Caller): Promise<Placement>;
}

export function createPlacements(reader: SnapshotReader): Placements {
  /** A placement follows from these three and from what the root names, which never changes. */
  const placements = new WeakMap<
    NodeClaims,
    { readonly loaded: LoadedRoot; readonly caller: Caller; readonly placement: Placement }
  >();
  return {
    of(loaded, claims, caller) {
      const place = placements.get(claims);
      return place?.loaded === loaded && place.caller === caller ? place.placement : undefined;
    },
    async find(loaded, claims, caller) {
      const placement = await placeNode(reader, loaded, claims, caller);
      placements.set(claims, { loaded, caller, placement });
      return placement;
    },
  };
}
