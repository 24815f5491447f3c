import { byCodePoint } from "../base/diagnostic.ts";

/** The same value with the members of all its objects in code point order: the release passes some configurations through maps. */
export function withSortedKeys(value: object): object {
  if (Array.isArray(value)) return value.map(sortedValue);
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => byCodePoint(a, b))
      .map(([key, member]) => [key, sortedValue(member)]),
  );
}

const sortedValue = (value: unknown): unknown =>
  typeof value === "object" && value !== null ? withSortedKeys(value) : value;
