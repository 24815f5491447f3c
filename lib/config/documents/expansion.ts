import { isFields } from "../../base/untyped.ts";
import { isList } from "./list.ts";

/** What a value comes to where a part that several aliases name counts as often as they name it. */
export interface Expansion {
  /** Elements and members. */
  readonly values: number;
  /** These, with the characters of names and texts: about the length of the document with all aliases written out. */
  readonly size: number;
  /** Levels; infinite where it contains itself. */
  readonly depth: number;
  /** Of a list its objects, with those of the lists in it, and of an array the same; 1 for anything else. */
  readonly objects: number;
}

/**
 * Counts what a value expands to. A part that is shared is gone through once, so that this takes no longer than its text is long.
 *
 * @param maxDepth where it goes no deeper
 */
export function expansionOf(value: unknown, maxDepth: number): Expansion {
  const known = new Map<object, Expansion>();
  const count = (part: unknown, level: number): Expansion => {
    if (typeof part === "string") return { ...scalar, size: part.length };
    if (typeof part !== "object" || part === null) return scalar;
    const counted = known.get(part);
    if (counted !== undefined) return counted;
    if (level > maxDepth) return endless;
    // Until it is counted it may be part of itself.
    known.set(part, endless);
    const counting = { values: 0, size: 0, depth: 0, objects: 1 };
    const add = (member: unknown, nameSize: number): Expansion => {
      const of = count(member, level + 1);
      counting.values += 1 + of.values;
      counting.size += 1 + nameSize + of.size;
      counting.depth = Math.max(counting.depth, of.depth);
      return of;
    };
    if (Array.isArray(part)) {
      for (const element of part) {
        const { objects } = add(element, 0);
        counting.objects += isList(element) ? objects : 1;
      }
    } else if (isFields(part)) {
      for (const name in part) {
        const { objects } = add(part[name], name.length);
        if (name === "items" && isList(part)) counting.objects = objects;
      }
    }
    const expansion = { ...counting, depth: counting.depth + 1 };
    known.set(part, expansion);
    return expansion;
  };
  return count(value, 1);
}

const scalar: Expansion = { values: 0, size: 0, depth: 0, objects: 1 };
const endless: Expansion = { ...scalar, depth: Number.POSITIVE_INFINITY };

/** Whether a text may hold an alias; nearly none does, and what is in such a text is no larger than the text. */
export const mayHoldAlias = (text: string): boolean => text.includes("&") && alias.test(text);

const alias = /(?:^|[\s,:?[{-])\*[^\s,[\]{}]/;
