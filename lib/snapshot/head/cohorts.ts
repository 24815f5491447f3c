/**
 * Nodes that are not where everybody is: on their way into a canary, in it, or on their way back. Each cohort has steps of its
 * own, so that a canary begins, grows and ends like any change: made before it is broken.
 */

import type { Cohort, Head, RolloutStage, Share } from "../root.ts";
import { cohortsOf, type Rollout, stagesFrom } from "./head.ts";
import { isInShare, type ShareNode } from "./share.ts";

/** The way that a node is on: that of the first cohort that takes it, or everybody's. */
export function rolloutFor(head: Head, node: ShareNode): Rollout {
  return cohortsOf(head).find(({ shares }) => shares.every((share) => isInShare(share, node))) ?? head;
}

/** A cohort before its steps are planned. */
export interface Regrouped {
  readonly shares: readonly Share[];
  readonly leaving: boolean;
  /** The steps that its nodes were on; undefined for those that everybody was on. */
  readonly from: readonly RolloutStage[] | undefined;
}

/** More would only come of changing a canary again and again within seconds. */
export const maxCohorts = 16;

/**
 * The cohorts after a canary has begun, has another share, or is over.
 *
 * @param share of the canary from now on; undefined without one
 * @returns in the order in which a node looks for its own: those that are under way first
 */
export function regroup(head: Head, share: Share | undefined, nowMs: number): readonly Regrouped[] {
  const under = hasArrived(head, nowMs) ? arrived(head) : cohortsOf(head);
  const before = under.flatMap(({ shares, steps }): readonly Regrouped[] => {
    const left = { shares, leaving: true, from: steps };
    if (share === undefined) return [left];
    const within = intersection(shares, share);
    const entered = { shares: within, leaving: false, from: steps };
    return sameShares(within, shares) ? [entered] : [entered, left];
  });
  if (share === undefined || before.some(({ shares }) => sameShares(shares, [share]))) return before;
  return [...before, { shares: [share], leaving: false, from: undefined }];
}

/** Whether every node is where it was to be led. */
function hasArrived(head: Head, nowMs: number): boolean {
  return [head.steps, ...cohortsOf(head).map(({ steps }) => steps)].every(
    (steps) => stagesFrom(steps, nowMs).length === 1,
  );
}

/** Then only the canary's own nodes are elsewhere than everybody. */
function arrived({ canary, steps }: Head): readonly Cohort[] {
  if (canary === undefined) return [];
  const { root, percent, labels } = canary;
  return [{ shares: [{ percent, labels }], steps: steps.slice(-1).map(({ at }) => ({ root, at })) }];
}

/** Shares that a node has to be in all of; one with the same labels as another takes its place. */
function intersection(shares: readonly Share[], more: Share): readonly Share[] {
  const labels = labelsText(more);
  const like = shares.findIndex((share) => labelsText(share) === labels);
  if (like === -1) return [...shares, more];
  return shares.map((share, i) => (i === like && share.percent > more.percent ? more : share));
}

const labelsText = ({ labels }: Share) => JSON.stringify(Object.entries(labels).sort());

function sameShares(a: readonly Share[], b: readonly Share[]): boolean {
  const text = (shares: readonly Share[]) => JSON.stringify(shares.map((share) => [share.percent, labelsText(share)]));
  return text(a) === text(b);
}
