import { stringsOf } from "../../base/untyped.ts";
import type { LabelSelector, LabelSelectorRequirement } from "../../config/kinds/selector.ts";
import { isSubset, type Labels } from "../../config/values/labels.ts";
import type { KubernetesObject } from "./object.ts";

/** What a registry reads of a Namespace. */
export interface Namespace {
  readonly labels: Labels;
  readonly annotations: Labels;
}

export function namespaceOf(object: KubernetesObject): Namespace {
  return { labels: stringsOf(object.metadata.labels), annotations: stringsOf(object.metadata.annotations) };
}

function meets(requirement: LabelSelectorRequirement, labels: Labels): boolean {
  const value = labels[requirement.key];
  switch (requirement.operator) {
    case "In":
      return value !== undefined && (requirement.values ?? []).includes(value);
    case "NotIn":
      return value === undefined || !(requirement.values ?? []).includes(value);
    case "Exists":
      return value !== undefined;
    case "DoesNotExist":
      return value === undefined;
    default:
      return false;
  }
}

/**
 * Says whether the mesh reads a namespace: no selectors read all, else any of them must select its labels. A
 * namespace that nobody knows has no labels.
 */
export function isDiscovered(selectors: readonly LabelSelector[], namespace: Namespace | undefined): boolean {
  if (selectors.length === 0) return true;
  const labels = namespace?.labels ?? {};
  return selectors.some((selector) => selectsLabels(selector, labels));
}

/** Whether a label selector picks an object with these labels; one without parts picks all. */
export function selectsLabels(selector: LabelSelector, labels: Labels): boolean {
  return (
    isSubset(selector.matchLabels ?? {}, labels) &&
    (selector.matchExpressions ?? []).every((requirement) => meets(requirement, labels))
  );
}
