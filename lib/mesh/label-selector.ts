export type Labels = Readonly<Record<string, string>>;

/** Does a workload with these labels fulfil the selector? An empty selector selects everything. */
export function selects(selector: Labels, labels: Labels): boolean {
  for (const key in selector) if (labels[key] !== selector[key]) return false;
  return true;
}

export function sameLabels(a: Labels, b: Labels): boolean {
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => a[key] === b[key]);
}
