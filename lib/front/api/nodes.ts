import type { Front } from "../front.ts";
import type { ExplainedRefusal } from "../nodes/explain-refusal.ts";
import { type NodesFront, refusalsKnown, statesOf, unmatchedKnown } from "../nodes/front-nodes.ts";
import type { NodeState, RefusedPart } from "../nodes/node-state.ts";
import { unmatchedRemedy } from "../nodes/unmatched-remedy.ts";
import { type Answered, type Asked, found, pageOf } from "./asked.ts";
import { type Browser, nothingPublished } from "./browsed.ts";
import type { Nodes, Trouble } from "./schema/nodes.ts";

const maxResources = 20;
const maxSuspects = 10;
const maxFrom = 10;

/** Nodes that ask this front, and what they have. */
export async function answerNodes(
  front: NodesFront & Pick<Front, "nodes" | "limits">,
  browser: Browser,
  asked: Asked,
): Promise<Answered<Nodes>> {
  const { offset, limit } = pageOf(asked);
  const most = Math.min(offset + limit, front.limits.statusNodes);
  const report = await front.nodes.report?.({ part: asked.value("q") ?? "", limit: most });
  if (report === undefined) return found({ isKept: false, total: 0, nodes: [] });
  const head = await browser.heads.current();
  if (head === undefined) return nothingPublished;
  const nodes = (await statesOf(front, head, report.nodes.slice(offset))).map(nodeAnswer);
  const { unread } = report;
  return found({
    isKept: true,
    total: report.nodes.length + report.more,
    nodes,
    ...(unread === undefined ? {} : { unread }),
  });
}

/** Nodes that refuse what they were served, with their words, and nodes without a class of their own. */
export async function answerTrouble(front: NodesFront, asked: Asked): Promise<Answered<Trouble>> {
  const { offset, limit } = pageOf(asked);
  const [refusals, strangers] = await Promise.all([refusalsKnown(front), unmatchedKnown(front)]);
  return found({
    refusals: refusals.slice(offset, offset + limit).map(refusalAnswer),
    moreRefusals: Math.max(refusals.length - offset - limit, 0),
    strangers: strangers
      .slice(offset, offset + limit)
      .map((stranger) => ({ ...stranger, since: timeOf(stranger.sinceMs), remedy: unmatchedRemedy(stranger) })),
    moreStrangers: Math.max(strangers.length - offset - limit, 0),
  });
}

function refusalAnswer(refusal: ExplainedRefusal) {
  const { nodeId, clusterId, type, name, refused, kept, sinceMs, classId, root, error, suspects } = refusal;
  return {
    nodeId,
    ...(clusterId === undefined ? {} : { clusterId }),
    type,
    name,
    refused,
    ...(kept === undefined ? {} : { kept }),
    since: timeOf(sinceMs),
    class: classId,
    root,
    ...(error === undefined ? {} : { error }),
    suspects: (suspects ?? []).slice(0, maxSuspects).map(({ name: suspect, from, at = [] }) => ({
      name: suspect,
      from: from.slice(0, maxFrom),
      at: at.slice(0, maxFrom),
    })),
    moreSuspects: Math.max((suspects?.length ?? 0) - maxSuspects, 0),
    isGone: suspects === undefined,
  };
}

/** A node as the API tells it: the model, and of each list a bounded beginning. */
function nodeAnswer({ resources, ...node }: NodeState): Nodes["nodes"][number] {
  return {
    ...node,
    resources: resources.slice(0, maxResources).map(({ refused, ...resource }) => ({
      ...resource,
      ...(refused === undefined ? {} : { refused: { ...refused, parts: refused.parts.map(partAnswer) } }),
    })),
    more: Math.max(resources.length - maxResources, 0),
  };
}

const partAnswer = ({ resource, from, at }: RefusedPart) => ({ resource, from, at });

const timeOf = (ms: number): string => new Date(ms).toISOString();
