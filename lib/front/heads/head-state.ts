import { cohortsOf, nextStageMs, type Rollout, rootAt, stagesFrom } from "../../snapshot/head/head.ts";
import type { Head } from "../../snapshot/root.ts";

/** What HEAD makes the front serve at a time: equal texts, equal answers for every node. */
export function stateOf(head: Head, nowMs: number): string {
  const rollouts = [head, ...cohortsOf(head)].map((rollout) => [
    rootAt(rollout, nowMs),
    ...conditionalRoots(rollout, nowMs),
  ]);
  return rollouts.join(";") + JSON.stringify(head.cohorts?.map(({ shares }) => shares) ?? head.canary ?? "");
}

/** Roots that some nodes are served before their time. */
const conditionalRoots = (rollout: Rollout, nowMs: number): readonly string[] =>
  stagesFrom(rollout.steps, nowMs).flatMap(({ root, gate }, i) =>
    i > 0 && gate !== undefined ? [`${root} ${gate}`] : [],
  );

/** `stateOf`, computed once from each step to the next. */
export function createStates(): typeof stateOf {
  let last:
    | { readonly head: Head; readonly fromMs: number; readonly untilMs: number; readonly state: string }
    | undefined;
  return (head, nowMs) => {
    if (last?.head !== head || nowMs < last.fromMs || nowMs >= last.untilMs) {
      const untilMs = nextStageMs(head, nowMs) ?? Number.POSITIVE_INFINITY;
      last = { head, fromMs: nowMs, untilMs, state: stateOf(head, nowMs) };
    }
    return last.state;
  };
}
