/** One place in which two JSON values differ. */
export interface JsonChange {
  /** As people write it: `virtualHosts[0].routes[1].route.cluster`; "" for the whole value. */
  readonly path: string;
  /** undefined where there is none. */
  readonly before: unknown;
  readonly after: unknown;
}

/** Where two JSON values differ, in order of the document, down to the smallest values. */
export function diffJson(before: unknown, after: unknown, path = ""): readonly JsonChange[] {
  if (Array.isArray(before) && Array.isArray(after)) {
    return Array.from({ length: Math.max(before.length, after.length) }, (_, i) =>
      diffJson(before[i], after[i], `${path}[${i}]`),
    ).flat();
  }
  if (isObject(before) && isObject(after)) {
    const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
    return [...keys].flatMap((key) => diffJson(before[key], after[key], path === "" ? key : `${path}.${key}`));
  }
  return before === after ? [] : [{ path, before, after }];
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
