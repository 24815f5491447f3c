import { escaped } from "./go-json.ts";

/** What stands around the elements of a document's one long list, as the release prints it. */
export interface ListForm {
  /** Up to the first element. */
  readonly before: string;
  /** From the end of the last element on. */
  readonly after: string;
  /** The document with an empty list. */
  readonly empty: string;
  /** How deep an element stands. */
  readonly depth: number;
}

/**
 * @param empty the printed document with the list empty, which stands last in it
 * @param depth of the list's elements
 */
export function listForm(empty: string, depth: number): ListForm {
  const at = empty.lastIndexOf("[]");
  return {
    before: empty.slice(0, at + 1),
    after: `${newLine(depth - 1)}${empty.slice(at + 1)}`,
    empty,
    depth,
  };
}

/** An element as it stands in such a list, with the line break before it and without a comma. */
export function elementText(element: object, { depth }: Pick<ListForm, "depth">): string {
  const line = newLine(depth);
  return line + escaped(JSON.stringify(element, undefined, " ")).replaceAll("\n", line);
}

/** A document prints one blank a level, and one more on every line but the first. */
const newLine = (depth: number): string => `\n${" ".repeat(depth + 1)}`;
