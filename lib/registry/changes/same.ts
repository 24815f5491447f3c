function isRecord(value: object): value is Record<string, unknown> {
  return !Array.isArray(value) && !(value instanceof Map);
}

function sameMap(a: ReadonlyMap<unknown, unknown>, b: ReadonlyMap<unknown, unknown>): boolean {
  if (a.size !== b.size) return false;
  for (const [key, value] of a) if (!b.has(key) || !sameValue(value, b.get(key))) return false;
  return true;
}

function sameRecord(a: Record<string, unknown>, b: Record<string, unknown>): boolean {
  const keys = Object.keys(a);
  if (keys.length !== Object.keys(b).length) return false;
  return keys.every((key) => Object.hasOwn(b, key) && sameValue(a[key], b[key]));
}

/** Deep equality of plain data: primitives, arrays (in order), maps and objects (in any order). */
export function sameValue(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (Array.isArray(a) && Array.isArray(b)) {
    return a.length === b.length && a.every((item, index) => sameValue(item, b[index]));
  }
  if (a instanceof Map && b instanceof Map) return sameMap(a, b);
  return isRecord(a) && isRecord(b) && sameRecord(a, b);
}

/** `after`, or `before` if the two are equal: what did not change keeps its identity. */
export function keepSame<T>(before: T | undefined, after: T): T {
  return before !== undefined && sameValue(before, after) ? before : after;
}

/** As `keepSame`, for each element as well: elements that did not change keep their identity in a list that did. */
export function keepSameItems<T>(
  before: readonly T[] | undefined,
  after: readonly T[],
  keyOf: (item: T) => string,
): readonly T[] {
  if (before === undefined || before.length === 0) return after;
  const known = new Map(before.map((item) => [keyOf(item), item]));
  const kept = after.map((item) => keepSame(known.get(keyOf(item)), item));
  return kept.length === before.length && kept.every((item, index) => item === before[index]) ? before : kept;
}
