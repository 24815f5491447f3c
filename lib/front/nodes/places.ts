import type { NodeClaims } from "../../base/classifier.ts";
import type { LoadedRoot } from "../../snapshot/reader/loaded.ts";
import type { SnapshotReader } from "../../snapshot/reader/snapshot-reader.ts";
import type { Caller } from "../auth/caller.ts";
import { type Placement, placeNode } from "./place-node.ts";

/** Where nodes were placed, by the very objects that they were placed by: polls that are known again bring the same ones. */
export interface Places {
  /** undefined when it has to be found. */
  of(loaded: LoadedRoot, claims: NodeClaims, caller: Caller): Placement | undefined;
  find(loaded: LoadedRoot, claims: NodeClaims, caller: Caller): Promise<Placement>;
}

export function createPlaces(reader: SnapshotReader): Places {
  /** A placement follows from these three and from what the root names, which never changes. */
  const places = new WeakMap<
    NodeClaims,
    { readonly loaded: LoadedRoot; readonly caller: Caller; readonly placement: Placement }
  >();
  return {
    of(loaded, claims, caller) {
      const place = places.get(claims);
      return place?.loaded === loaded && place.caller === caller ? place.placement : undefined;
    },
    async find(loaded, claims, caller) {
      const placement = await placeNode(reader, loaded, claims, caller);
      places.set(claims, { loaded, caller, placement });
      return placement;
    },
  };
}
