import type { Known } from "./memo.ts";

/**
 * Makes a remembered result again, unless that was done in this revision already.
 *
 * @throws if the result is another one: the body reads something that is not among its inputs, or an input was changed in place
 */
export function verify<T>(known: Known, name: string, entry: object, result: T, make: () => T): void {
  const { verified } = known;
  if (verified === undefined || verified.has(entry)) return;
  verified.add(entry);
  const difference = differenceOf(result, make(), "result", new Map());
  if (difference === undefined) return;
  throw new Error(
    `query ${name} has another result for the same inputs (${difference}): it reads something that is not among its inputs, or an input was changed in place`,
  );
}

/** @returns the path of a difference. Functions cannot be compared, so all are taken to be the same. */
function differenceOf(a: unknown, b: unknown, path: string, compared: Map<object, object>): string | undefined {
  if (Object.is(a, b) || (typeof a === "function" && typeof b === "function")) return undefined;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return path;
  if (Object.getPrototypeOf(a) !== Object.getPrototypeOf(b)) return path;
  if (compared.get(a) === b) return undefined;
  compared.set(a, b);
  const [fields, others] = [partsOf(a), partsOf(b)];
  if (fields.length !== others.length) return path;
  for (const [at, [name, value]] of fields.entries()) {
    const [otherName, otherValue] = others[at] ?? [];
    const found =
      differenceOf(name, otherName, `${path}, a key`, compared) ??
      differenceOf(value, otherValue, `${path}.${String(name)}`, compared);
    if (found !== undefined) return found;
  }
  return undefined;
}

function partsOf(value: object): readonly (readonly [unknown, unknown])[] {
  if (value instanceof Map) return [...value];
  if (value instanceof Set) return [...value].map((element, at) => [at, element]);
  if (value instanceof WeakMap || value instanceof WeakRef || value instanceof WeakSet) return [];
  return Object.entries(value);
}
