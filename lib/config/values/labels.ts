/** Pairs by which Kubernetes and Istio tell objects of one kind apart. */
export type Labels = Readonly<Record<string, string>>;

/**
 * Whether every pair of `part` is in `whole`; an empty part is in everything. So a policy's selector, `matchLabels` and the
 * labels of a subset are meant: one without pairs takes all.
 */
export function isSubset(part: Labels, whole: Labels): boolean {
  for (const key in part) if (part[key] !== whole[key]) return false;
  return true;
}

/**
 * As `isSubset`, but a part without pairs, or none at all, is in nothing. So the selectors of a service and of a ServiceEntry
 * are meant: one that names no workload has none behind it.
 */
export function isNonEmptySubset(part: Labels | undefined, whole: Labels): boolean {
  let isEmpty = true;
  for (const key in part) {
    if (part[key] !== whole[key]) return false;
    isEmpty = false;
  }
  return !isEmpty;
}

/** Whether two sets of labels have the same pairs. */
export function sameLabels(a: Labels, b: Labels): boolean {
  return isSubset(a, b) && Object.keys(a).length === Object.keys(b).length;
}
