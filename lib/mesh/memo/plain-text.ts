import { hash } from "node:crypto";

/**
 * One text for each plain value, and no other value with the same: texts carry their length, so that nothing in them can look
 * like a bound between two. Fields in the order of their names; a field that is undefined counts as one that is not there.
 *
 * @throws on functions, symbols, maps and other objects that are more than their fields: those count by identity
 */
export function plainText(value: unknown): string {
  switch (typeof value) {
    case "string":
      return `${value.length}"${value}`;
    case "number":
      return `${Object.is(value, -0) ? 0 : value};`;
    case "boolean":
      return value ? "t" : "f";
    case "undefined":
      return "u";
    case "bigint":
      return `${value}n`;
    case "object":
      return objectText(value);
    default:
      throw new TypeError(`no plain value: a ${typeof value}`);
  }
}

function objectText(value: object | null): string {
  if (value === null) return "n";
  if (Array.isArray(value)) return listText(value);
  const prototype = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) throw new TypeError("no plain value: an object of a class");
  let text = "{";
  for (const name of sorted(Object.keys(value))) {
    const field: unknown = Reflect.get(value, name);
    if (field !== undefined) text += plainText(name) + plainText(field);
  }
  return `${text}}`;
}

function listText(list: readonly unknown[]): string {
  let text = "[";
  for (let at = 0; at < list.length; at++) text += plainText(list[at]);
  return `${text}]`;
}

/** Any order will do that is the same everywhere. Most objects were written in it; the others are short. */
function sorted(names: string[]): readonly string[] {
  for (let at = 1; at < names.length; at++) if ((names[at - 1] ?? "") > (names[at] ?? "")) return names.sort();
  return names;
}

/** A short text that stands for a long one in a name. */
export function fingerprint(text: string): string {
  return hash("sha256", text).slice(0, 24);
}

/** A text that stands for a long key wherever keys are compared. */
export const shortKey = (key: string): string => hash("sha256", key);
