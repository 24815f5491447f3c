import { fieldsOf } from "../../base/untyped.ts";
import type { Path } from "../finding.ts";

/** Kinds that make pods from a template; of two that have one name the earlier one goes by it. */
export const templateKinds = [
  "Deployment",
  "StatefulSet",
  "DaemonSet",
  "Rollout",
  "ReplicaSet",
  "Job",
  "CronJob",
] as const;

/** Where a workload keeps the template of its pods. */
export function templatePath(kind: string): Path {
  return kind === "CronJob" ? ["spec", "jobTemplate", "spec", "template"] : ["spec", "template"];
}

/** The template of a workload's pods: metadata and spec of each; no fields where it has none. */
export function templateOf(object: {
  readonly kind: string;
  readonly [field: string]: unknown;
}): Readonly<Record<string, unknown>> {
  const template = templatePath(object.kind).reduce<unknown>((value, step) => fieldsOf(value)[step], object);
  return fieldsOf(template);
}
