import type { NodeId } from "../legacy/node-id.ts";
import type { LegacyMesh } from "./legacy-world.ts";
import type { RunsHere } from "./runs-here.ts";

/** The requesting node and its world: the inputs of routes. */
export interface RequestContext {
  readonly world: LegacyMesh;
  readonly node: NodeId;
  /** What runs at the node's address. */
  readonly here: RunsHere;
  /** Clusters are named as v2 does, where no rule names its own. */
  readonly v2Names: boolean;
}
