import type { NodeClaims } from "../../base/classifier.ts";
import { wireVersion } from "../../snapshot/parts-version.ts";
import type { LoadedRoot } from "../../snapshot/reader/loaded.ts";
import type { ShapeName } from "../../snapshot/resource-type.ts";
import { type ResourceQuestion, selectResources } from "../../streams/select-resources.ts";
import type { Caller } from "../auth/caller.ts";
import type { Front } from "../front.ts";
import { ackSourceOf } from "../heads/cds-acks.ts";
import type { Switching } from "../heads/switches.ts";
import { placeNode } from "../nodes/place-node.ts";

/** What tells whether a polling node is through a gate. */
export type SwitchServices = Pick<Front, "reader" | "cdsAcks">;

/** A node that polls: what it has, its polls for clusters have said. */
export interface PollingNode {
  readonly node: NodeClaims;
  readonly caller: Caller;
  readonly shape: ShapeName;
}

/** A node that polls is through a gate once a poll for clusters has brought a version that the gate lists. */
export function switchingOf(front: SwitchServices, { node, caller, shape }: PollingNode): Switching {
  return {
    shape,
    place: (loaded) => placeNode(front.reader, loaded, node, caller),
    hasClusters: (versions) => front.cdsAcks.hasOneOf(ackSourceOf(node.id, caller), versions.map(wireVersion)),
  };
}

/** What a node asks of whichever class it is of. */
export type NodeQuestion = Omit<ResourceQuestion, "classId">;

/**
 * The steps to come that hold what a node asks for, in their order: what it was served from one of them, by another front or before this
 * one began, must not be taken back.
 */
export async function* selectionsAhead(
  front: Pick<Front, "reader">,
  ahead: readonly LoadedRoot[],
  { node, caller }: Omit<PollingNode, "shape">,
  question: NodeQuestion,
) {
  for (const loaded of ahead) {
    const placement = await placeNode(front.reader, loaded, node, caller);
    if (placement.kind !== "placed") continue;
    const { classId } = placement;
    const selection = await selectResources(front.reader, loaded, { ...question, classId });
    if (selection !== undefined) yield { classId, selection };
  }
}
