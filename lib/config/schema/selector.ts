import type { z } from "zod";
import type { LabelSelector, PolicyTargetReference, WorkloadSelector } from "../kinds/selector.ts";
import type { WorkloadSelector as LabelsSelector } from "../kinds/sidecar.ts";
import { message } from "./message.ts";
import { stringMap, text, texts } from "./scalars.ts";

/** `matchLabels` form. */
export const workloadSelector: z.ZodType<WorkloadSelector> = message({ plain: { matchLabels: stringMap } });

/** `labels` form of the networking kinds. */
export const labelsSelector: z.ZodType<LabelsSelector> = message({ plain: { labels: stringMap } });

export const targetReference: z.ZodType<PolicyTargetReference> = message({
  required: { kind: text.default(""), name: text.default("") },
  plain: { group: text, namespace: text },
});

/** The three ways to attach a policy; spread into the `kept` and `plain` fields of its kind. */
export const policyTarget = {
  kept: { selector: workloadSelector, targetRef: targetReference },
  plain: { targetRefs: targetReference.array() },
} as const;

export const labelSelector: z.ZodType<LabelSelector> = message({
  plain: {
    matchLabels: stringMap,
    matchExpressions: message({ required: { key: text, operator: text }, plain: { values: texts } }).array(),
  },
});
