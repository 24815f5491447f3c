import { byCodePoint } from "../config/diagnostic.ts";

/** JSON text with angle brackets, ampersands and line separators inside strings escaped, as Go writes them. */
export function escaped(json: string): string {
  return json.replaceAll(
    /[<>&\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/**
 * A document as the release prints it: one blank of indentation a level, every line but the first one blank further in.
 * Envoy takes any JSON; byte equality is for those who compare.
 */
export function encodeDocument(document: unknown): string {
  return escaped(JSON.stringify(document, undefined, " ")).replaceAll("\n", "\n ");
}

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
