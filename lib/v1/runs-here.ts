import { isSubset } from "../config/values/labels.ts";
import { internValue } from "../incremental/keep-identity.ts";
import { type Memo, noMemo } from "../incremental/memo.ts";
import type { Labels } from "../legacy/service-key.ts";
import type { LegacyInstance } from "./legacy-world.ts";

/**
 * What runs at a node's address, as routes and policies ask for it. Nodes that give the same answers to what was asked have the same
 * tables.
 */
export interface RunsHere {
  /** Is some of it of the service, with these labels? */
  isOf(hostname: string, labels: Labels): boolean;
  /** Does some of it carry the labels? Where nothing runs nothing does. */
  carries(labels: Labels): boolean;
  /** Of the first of it, which Mixer is told of. */
  readonly labels: Labels | undefined;
}

/** What every workload carries. */
export const anyLabels: Labels = {};

/** @param memo gives equal labels one object */
export const runsHere = (instances: readonly LegacyInstance[], memo: Memo = noMemo): RunsHere => ({
  isOf: (hostname, labels) =>
    instances.some((instance) => instance.service.hostname === hostname && isSubset(labels, instance.labels)),
  carries: (labels) => instances.some((instance) => isSubset(labels, instance.labels)),
  labels: instances[0] && internValue(memo, instances[0].labels),
});

export const nothingRuns: RunsHere = runsHere([]);
