/** What a front knows of its nodes, with what the processes beside it know. */

import type { SnapshotReader } from "../../snapshot/reader/snapshot-reader.ts";
import type { Head } from "../../snapshot/root.ts";
import type { Heads } from "../heads/heads.ts";
import type { ExplainedRefusal } from "./explain-refusal.ts";
import { nodeStates } from "./in-force.ts";
import type { NodeState } from "./node-state.ts";
import type { NodeStatus } from "./node-watch.ts";
import { joinedRefusals, joinedUnmatched, type Siblings } from "./siblings.ts";
import type { UnmatchedNode, UnmatchedWatch } from "./unmatched-nodes.ts";

/** As much of a front as tells of its nodes. */
export interface NodesFront {
  readonly browsing: SnapshotReader;
  readonly heads: Pick<Heads, "timeMs">;
  readonly siblings: Siblings;
  readonly strangers: Pick<UnmatchedWatch, "active">;
  readonly now: () => number;
  explainRefusals(): Promise<readonly ExplainedRefusal[]>;
}

/** Refusals of nodes that go on asking, the latest first, each with what it may be about. */
export async function refusalsKnown(front: NodesFront): Promise<readonly ExplainedRefusal[]> {
  const [own, others] = await Promise.all([front.explainRefusals(), front.siblings.refusals()]);
  return joinedRefusals([...own, ...others]);
}

/** Nodes without a class of their own, the latest first. */
export async function unmatchedKnown(front: NodesFront): Promise<readonly UnmatchedNode[]> {
  return joinedUnmatched([...front.strangers.active(), ...(await front.siblings.strangers())]);
}

/** The states of nodes, held against a HEAD. */
export async function statesOf(
  front: NodesFront,
  head: Head,
  nodes: readonly NodeStatus[],
): Promise<readonly NodeState[]> {
  const isRefusing = nodes.some(({ resources }) => resources.some(({ refused }) => refused !== undefined));
  const inForce = { reader: front.browsing, head, nowMs: front.heads.timeMs() };
  const refusals = isRefusing ? await refusalsKnown(front) : [];
  return nodeStates(inForce, nodes, { nowMs: front.now(), refusals });
}
