import { statusOf } from "../../snapshot/head/head-status.ts";
import type { HistoryEntry } from "../../snapshot/head/history/history.ts";
import type { Head, RolloutStage } from "../../snapshot/root.ts";
import type { Front } from "../front.ts";
import { type NodesFront, refusalsKnown, statesOf, unmatchedKnown } from "../nodes/front-nodes.ts";
import { countedNodes, type NodeState } from "../nodes/node-state.ts";
import { type Answered, found } from "./asked.ts";
import { type Browser, nothingPublished } from "./browsed.ts";
import { countedDiagnostics, type DiagnosticLists } from "./diagnostics.ts";
import type { Overview, PublicationEntry } from "./schema/answers.ts";

const maxHeld = 20;

/** How far back to look for what led to the version in force. */
const maxEntries = 200;

/** Proxies that are named. */
const maxTroubled = 20;

/** The first to look at first. */
const troubledFirst = ["refused", "stale", "gone"] as const;

/** What the overview is made from, besides snapshots. */
export type OverviewServices = NodesFront & Pick<Front, "nodes" | "limits" | "behindSources">;

/** Proxies by state; undefined where this front keeps none. */
async function proxiesNow(
  front: NodesFront & Pick<Front, "nodes" | "limits">,
  head: Head,
): Promise<Overview["proxies"]> {
  const report = await front.nodes.report?.({ part: "", limit: front.limits.statusNodes });
  if (report === undefined) return undefined;
  const states = await statesOf(front, head, report.nodes);
  const troubled = troubledFirst.flatMap((wanted) => states.filter(({ state }) => state === wanted));
  return {
    total: states.length + report.more,
    ...countedNodes(states),
    troubled: troubled.slice(0, maxTroubled).map(troubledOf),
  };
}

const troubledOf = ({ node, name, state, presence }: NodeState) => ({ node, name, state, presence });

/** What is served, what follows, what holds it, how well, and which proxies do not have it. */
export async function answerOverview(
  front: OverviewServices,
  browser: Browser,
  lists: DiagnosticLists,
  here: Pick<Overview, "moves" | "isTracing">,
): Promise<Answered<Overview>> {
  const { heads, reader } = browser;
  const head = await heads.current();
  if (head === undefined) return nothingPublished;
  const { since, pin, expired, canary, held, ...status } = await statusOf(reader, head, heads.timeMs(), maxEntries);
  const { root, classes } = await reader.root(status.served);
  const { warnings, headAgeMs } = await heads.health();
  const behind = await front.behindSources?.();
  const proxies = await proxiesNow(front, head);
  const { messages, isAnalyzed, notAnalyzed } = await lists(status.served, root.diagnostics);
  return found({
    ...status,
    steps: status.steps.map(stepOf),
    ...(since === undefined ? {} : { since: entryOf(since) }),
    ...(pin === undefined ? {} : { pin }),
    ...(expired === undefined ? {} : { expired }),
    ...(canary === undefined ? {} : { canary }),
    held: held.slice(0, maxHeld).map(entryOf),
    compiler: root.compiler,
    ...(root.release === undefined ? {} : { release: root.release }),
    sources: root.sources,
    classes: classes.size,
    diagnostics: countedDiagnostics(messages),
    isAnalyzed,
    ...(notAnalyzed === undefined ? {} : { notAnalyzed }),
    ...(proxies === undefined ? {} : { proxies }),
    unmatched: (await unmatchedKnown(front)).length,
    refusals: (await refusalsKnown(front)).length,
    ...(behind === undefined ? {} : { behind }),
    warnings,
    ...(headAgeMs === undefined ? {} : { headAgeMs }),
    ...here,
  });
}

const stepOf = ({ root, at }: RolloutStage): RolloutStage => ({ root, at });

/** An entry of the history as the API tells it. */
export function entryOf({ parent: _parent, changed: _changed, ...entry }: HistoryEntry): PublicationEntry {
  return entry;
}
