import type { NodeId } from "../snapshot/legacy/node-id.ts";
import type { LegacyInstance, LegacyWorld } from "./legacy-world.ts";

/** Who asks, in which world: what listeners and routes are made from. */
export interface Asker {
  readonly world: LegacyWorld;
  readonly node: NodeId;
  /** What runs at the node's address. */
  readonly instances: readonly LegacyInstance[];
  /** Clusters are named as v2 does, where no rule names its own. */
  readonly v2Names: boolean;
}
