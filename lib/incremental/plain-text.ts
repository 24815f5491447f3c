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

/** What a plain value is compared by: itself where it is its own text, else its text, behind a mark that no other text begins with. */
export function plainPart(value: unknown): unknown {
  // No `switch` over the type: V8 makes a text of it then, and this is called for every value of every query.
  if (typeof value === "string") {
    if (value.length <= longestPart && !value.startsWith(mark)) return value;
  } else if (typeof value === "number" || typeof value === "boolean" || value === undefined) return value;
  const text = plainText(value);
  return mark + (text.length > longestPart ? hash("sha256", text) : text);
}

const mark = "\u0000";

/** Parts up to this length are kept as they are, in UTF-16 code units: a list of a mesh's services is longer than all that is made of it. */
const longestPart = 4096;

/** A short text that stands for a long one in a name. */
export function fingerprint(text: string): string {
  return hash("sha256", text).slice(0, 24);
}
