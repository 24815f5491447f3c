import { byCodePoint } from "../../../base/diagnostic.ts";

interface Named {
  readonly file: string;
}

/** What of one list stands under the names of another. */
export interface Pairs<T> {
  /** For each name its element; undefined where there is none. */
  readonly entries: readonly (T | undefined)[];
  /** Elements whose names are not among them. */
  readonly gone: readonly T[];
}

/** Goes along two lists at once: no name is looked up. @param names in their order */
export function pairUp<T extends Named>(names: readonly Named[], elements: readonly T[]): Pairs<T> {
  const sorted = inOrder(elements);
  const gone: T[] = [];
  let at = 0;
  let isPaired = false;
  const passUntil = (name: string | undefined): T | undefined => {
    for (; ; at += 1, isPaired = false) {
      const element = sorted[at];
      if (element === undefined || element.file === name || (name !== undefined && element.file > name)) return element;
      if (!isPaired) gone.push(element);
    }
  };
  const entries = names.map(({ file }) => {
    const element = passUntil(file);
    if (element?.file !== file) return undefined;
    isPaired = true;
    return element;
  });
  passUntil(undefined);
  return { entries, gone };
}

/** A list in the order of its names: mostly it is so already. */
export function inOrder<T extends Named>(list: readonly T[]): readonly T[] {
  for (let at = 1; at < list.length; at += 1)
    if ((list[at - 1]?.file ?? "") > (list[at]?.file ?? ""))
      return list.toSorted((a, b) => byCodePoint(a.file, b.file));
  return list;
}
