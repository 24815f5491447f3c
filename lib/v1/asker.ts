import type { NodeId } from "../legacy/node-id.ts";
import type { LegacyMesh } from "./legacy-world.ts";
import type { RunsHere } from "./runs-here.ts";

/** Who asks, in which world: what routes are made from. */
export interface Asker {
  readonly world: LegacyMesh;
  readonly node: NodeId;
  /** What runs at the node's address. */
  readonly here: RunsHere;
  /** Clusters are named as v2 does, where no rule names its own. */
  readonly v2Names: boolean;
}
