import type { Labels } from "../../config/values/labels.ts";

/** Labels by which a workload says whose instance it is, and of which revision. */
export const canonicalName = "service.istio.io/canonical-name";
export const canonicalRevision = "service.istio.io/canonical-revision";

/** The labels that injection gives a workload where it lacks them: whose instance it is, and of which revision. */
export function canonicalLabels(
  labels: Labels,
  workloadName: string,
): Readonly<Record<typeof canonicalName | typeof canonicalRevision, string>> {
  return {
    [canonicalName]: labels[canonicalName] || labels["app.kubernetes.io/name"] || labels.app || workloadName,
    [canonicalRevision]: labels[canonicalRevision] || labels["app.kubernetes.io/version"] || labels.version || "latest",
  };
}

/** Label that names a workload's application, the one that was there first before the others. */
export function appOf(labels: Labels): string | undefined {
  return labels.app ?? labels["app.kubernetes.io/name"] ?? labels[canonicalName];
}
