import { own } from "../../base/classifier.ts";
import { conditionKey } from "../../snapshot/condition-key.ts";
import { type Rollout, stagesFrom } from "../../snapshot/head/head.ts";
import type { LoadedRoot } from "../../snapshot/reader/loaded.ts";
import type { SnapshotReader } from "../../snapshot/reader/snapshot-reader.ts";
import type { ShapeName } from "../../snapshot/resource-type.ts";
import type { RolloutStage, StageCondition } from "../../snapshot/root.ts";
import type { Placement } from "../nodes/place-node.ts";

/** What decides whether a node may enter a stage before its time. */
export interface Switching {
  readonly shape: ShapeName;
  /** The class in a root that is not in force yet. */
  place(loaded: LoadedRoot): Promise<Placement>;
  /** Whether it has all clusters that a class needs in a root. @param versions of clusters that hold them, as `StageCondition` lists them */
  hasClusters(versions: readonly string[], loaded: LoadedRoot, classId: string): Promise<boolean>;
}

/** The stage of a rollout that a node is in. */
export interface NodeRollout {
  /** Root that it is served. */
  readonly root: string;
  /** Later stages that another server may have served it: it is never moved back from them. */
  readonly ahead: readonly LoadedRoot[];
}

/**
 * The stage of a node: the one in force, or a later one, if the node meets its condition and those of the stages before. A condition that
 * cannot be read is not met.
 */
export async function rolloutOf(
  reader: SnapshotReader,
  rollout: Rollout,
  nowMs: number,
  switching: Switching,
): Promise<NodeRollout> {
  const [inForce, ...later] = stagesFrom(rollout.steps, nowMs);
  let root = inForce?.root ?? "";
  const ahead: LoadedRoot[] = [];
  for (const stage of later) {
    if (stage.gate === undefined) continue;
    // The cause is not reported here, once for each poll: it is when the step is in force and its root is to be served.
    const loaded = await reader.root(stage.root).catch(() => undefined);
    if (loaded === undefined) break;
    if (ahead.length === 0 && (await isThrough(reader, stage, loaded, switching))) root = stage.root;
    else ahead.push(loaded);
  }
  return { root, ahead };
}

/** Whether a later stage has a condition, so that some nodes may enter it early. */
export const hasStageCondition = (rollout: Rollout, nowMs: number): boolean =>
  stagesFrom(rollout.steps, nowMs).some(({ gate }, i) => i > 0 && gate !== undefined);

async function isThrough(
  reader: SnapshotReader,
  { gate: hash = "" }: RolloutStage,
  loaded: LoadedRoot,
  switching: Switching,
): Promise<boolean> {
  const placement = await switching.place(loaded);
  const gate = placement.kind === "placed" ? await reader.gate(hash) : undefined;
  if (placement.kind !== "placed" || gate === undefined) return false;
  const versions = versionsIn(gate, switching.shape, placement.classId);
  return versions === undefined || (versions.length > 0 && switching.hasClusters(versions, loaded, placement.classId));
}

/** What will do for a class; undefined when it needs nothing. */
function versionsIn(
  { lists, classes }: StageCondition,
  shape: ShapeName,
  classId: string,
): readonly string[] | undefined {
  const index = own(classes, conditionKey(shape, classId));
  return index === undefined ? undefined : (lists[index]?.versions ?? []);
}
