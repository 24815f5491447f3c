import { own } from "../../base/classifier.ts";
import { conditionKey } from "../../snapshot/gate-key.ts";
import { stepsFrom, type Way } from "../../snapshot/head/head.ts";
import type { LoadedRoot } from "../../snapshot/reader/loaded.ts";
import type { SnapshotReader } from "../../snapshot/reader/snapshot-reader.ts";
import type { ShapeName } from "../../snapshot/resource-type.ts";
import type { Gate, Step } from "../../snapshot/root.ts";
import type { Placement } from "../nodes/place-node.ts";

/** Who asks, as far as the steps before their time are for him. */
export interface Switching {
  readonly shape: ShapeName;
  /** The class in a root that is not in force yet. */
  place(loaded: LoadedRoot): Promise<Placement>;
  /** Whether it has all clusters that a class needs in a root. @param versions of clusters that hold them, as `Gate` lists them */
  hasClusters(versions: readonly string[], loaded: LoadedRoot, classId: string): Promise<boolean>;
}

/** Where a node is between what is in force and what follows. */
export interface NodeRollout {
  /** What it is served. */
  readonly root: string;
  /** Steps that it may have been served elsewhere, or before this front began: it is never led back from them. */
  readonly ahead: readonly LoadedRoot[];
}

/**
 * The step that a node is at: the one in force, or a later one, if the node meets its gate and those of the steps before. What
 * cannot be read is not met.
 */
export async function rolloutOf(
  reader: SnapshotReader,
  way: Way,
  nowMs: number,
  switching: Switching,
): Promise<NodeRollout> {
  const [inForce, ...later] = stepsFrom(way.steps, nowMs);
  let root = inForce?.root ?? "";
  const ahead: LoadedRoot[] = [];
  for (const step of later) {
    if (step.gate === undefined) continue;
    // The cause is not reported here, once for each poll: it is when the step is in force and its root is to be served.
    const loaded = await reader.root(step.root).catch(() => undefined);
    if (loaded === undefined) break;
    if (ahead.length === 0 && (await isThrough(reader, step, loaded, switching))) root = step.root;
    else ahead.push(loaded);
  }
  return { root, ahead };
}

/** Whether a step is to come that some need not wait for. */
export const hasGate = (way: Way, nowMs: number): boolean =>
  stepsFrom(way.steps, nowMs).some(({ gate }, i) => i > 0 && gate !== undefined);

async function isThrough(
  reader: SnapshotReader,
  { gate: hash = "" }: Step,
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
function versionsIn({ lists, classes }: Gate, shape: ShapeName, classId: string): readonly string[] | undefined {
  const index = own(classes, conditionKey(shape, classId));
  return index === undefined ? undefined : (lists[index]?.versions ?? []);
}
