import { parseNodeId } from "../../snapshot/classifier.ts";
import type { Front } from "../front.ts";
import type { ExplainedRefusal } from "../nodes/explain-refusal.ts";
import { strangerRemedy } from "../nodes/stranger-remedy.ts";
import { type Answered, type Asked, found, pageOf } from "./asked.ts";
import { type Browser, browsed } from "./browsed.ts";
import type { Nodes, Trouble } from "./schema/nodes.ts";

const maxResources = 20;
const maxSuspects = 10;
const maxFrom = 10;

/** Nodes that ask this front, and what they have. */
export async function answerNodes(front: Front, browser: Browser, asked: Asked): Promise<Answered<Nodes>> {
  const { offset, limit } = pageOf(asked);
  const most = Math.min(offset + limit, front.limits.statusNodes);
  const report = await front.nodes.report?.({ part: asked.value("q") ?? "", limit: most });
  if (report === undefined) return found({ isKept: false, total: 0, nodes: [] });
  const served = await browsed(browser, asked);
  if (served.kind === "refused") return served;
  const nodes = await Promise.all(
    report.nodes.slice(offset).map(async ({ node, resources }) => {
      const name = parseNodeId(node)?.name ?? node;
      const classId = await browser.reader.nodeClass(served.value.root, name);
      return {
        node,
        name,
        ...(classId === undefined ? {} : { class: classId }),
        resources: resources.slice(0, maxResources),
        more: Math.max(resources.length - maxResources, 0),
        refuses: resources.filter(({ refused }) => refused !== undefined).length,
      };
    }),
  );
  return found({ isKept: true, total: report.nodes.length + report.more, nodes });
}

/** Nodes that refuse what they were served, with their words, and nodes without a class of their own. */
export async function answerTrouble(front: Front, asked: Asked): Promise<Answered<Trouble>> {
  const { offset, limit } = pageOf(asked);
  const refusals = await front.explainRefusals();
  const strangers = front.strangers.standing();
  return found({
    refusals: refusals.slice(offset, offset + limit).map(toldRefusal),
    moreRefusals: Math.max(refusals.length - offset - limit, 0),
    strangers: strangers
      .slice(offset, offset + limit)
      .map((stranger) => ({ ...stranger, since: timeOf(stranger.sinceMs), remedy: strangerRemedy(stranger) })),
    moreStrangers: Math.max(strangers.length - offset - limit, 0),
  });
}

function toldRefusal({ nodeId, type, name, refused, kept, sinceMs, classId, root, error, suspects }: ExplainedRefusal) {
  return {
    nodeId,
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

const timeOf = (ms: number): string => new Date(ms).toISOString();
