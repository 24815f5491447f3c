import { createHash } from "node:crypto";
import type { Memo } from "./memo.ts";

/** A short text that stands for a long one among keys. */
export function fingerprint(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 24);
}

/**
 * The list made last under this name if it had the same elements, else the given list. What is made from a list can be
 * remembered by the list's identity then, and stays as long as its elements do. The result always equals `list`.
 */
export function sameList<T>(memo: Memo, name: string, list: readonly T[]): readonly T[] {
  const slot = memo<{ current: readonly T[] }>([], `list|${name}`, () => ({ current: list }));
  const last = slot.current;
  if (last !== list && (last.length !== list.length || last.some((element, at) => element !== list[at])))
    slot.current = list;
  return slot.current;
}

/** As `sameList`, for a map: the one made last under this name if it had the same entries. */
export function sameMap<T>(memo: Memo, name: string, map: ReadonlyMap<string, T>): ReadonlyMap<string, T> {
  const slot = memo<{ current: ReadonlyMap<string, T> }>([], `map|${name}`, () => ({ current: map }));
  const last = slot.current;
  if (last !== map && (last.size !== map.size || [...map].some(([key, value]) => last.get(key) !== value)))
    slot.current = map;
  return slot.current;
}

/** A function of one text that works every answer out once. */
export function remembered<T>(make: (key: string) => T): (key: string) => T {
  const made = new Map<string, { readonly value: T }>();
  return (key) => {
    let entry = made.get(key);
    if (entry === undefined) {
      entry = { value: make(key) };
      made.set(key, entry);
    }
    return entry.value;
  };
}

/** A value that is worked out when it is first asked for. */
export function lazily<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

/** Elements by a text, in their order. */
export function groupBy<T>(elements: Iterable<T>, keyOf: (element: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const element of elements) {
    const key = keyOf(element);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [element]);
    else group.push(element);
  }
  return groups;
}
