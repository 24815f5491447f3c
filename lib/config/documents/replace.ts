import { isNode, parseDocument } from "yaml";
import { type ObjectSource, readDocument } from "./parse.ts";
import type { TextDocument } from "./split-documents.ts";

/** What is to stand in place of an object, or of a document. */
export interface Replacement extends ObjectSource {
  /** One line of JSON. */
  readonly text: string;
}

/**
 * A stream in which other values stand in place of some of its objects. All else stays on its line.
 *
 * @param instead stands in place of a document out of which an object cannot be cut, as where others refer to its anchors
 */
export function replaceIn(stream: string, replacements: readonly Replacement[], instead: string): string {
  const byDocument = Map.groupBy(replacements, ({ document }) => document);
  // From the last on, so that what comes before stays where it is.
  const documents = [...byDocument].sort(([a], [b]) => b.line - a.line);
  return documents.reduce((text, [document, all]) => {
    const start = text.indexOf(document.text, startOfLine(text, document.line));
    const whole = all.find(({ path }) => path.length === 0);
    const next = whole === undefined ? withItems(document, all, instead) : inPlaceOf(document.text, whole.text);
    return text.slice(0, start) + next + text.slice(start + document.text.length);
  }, stream);
}

function startOfLine(text: string, line: number): number {
  let at = 0;
  for (let passed = 1; passed < line; passed += 1) at = text.indexOf("\n", at) + 1;
  return at;
}

/** A value on the line on which a text's own begins, and as many lines as it has. */
function inPlaceOf(text: string, value: string): string {
  const lead = /^(?:\s|#[^\n]*(?:\n|$)|%[^\n]*(?:\n|$))*/.exec(text)?.[0] ?? "";
  const [before, after] = [lines(lead), lines(text.slice(lead.length))];
  // On the line of a marker it stands apart from it.
  return `${before === 0 ? " " : "\n".repeat(before)}${value}${"\n".repeat(after)}`;
}

const lines = (text: string): number => text.split("\n").length - 1;

function withItems(document: TextDocument, items: readonly Replacement[], instead: string): string {
  const parsed = parseDocument(document.text, { uniqueKeys: false, logLevel: "silent" });
  const spans = items.map(({ path, text }) => {
    const node = parsed.getIn(path, true);
    const [from, to] = (isNode(node) ? node.range : undefined) ?? [-1, -1];
    return { from, to, text };
  });
  spans.sort((a, b) => b.from - a.from);
  const text = spans.reduce((rest, { from, to, text: value }) => {
    if (from < 0) return rest;
    const cut = rest.slice(from, to);
    const end = /\s*$/.exec(cut)?.[0] ?? "";
    const between = "\n".repeat(lines(cut) - lines(end));
    return `${rest.slice(0, from)}${value}${between}${end}${rest.slice(to)}`;
  }, document.text);
  const isWhole = spans.every(({ from }) => from >= 0) && readDocument({ ...document, text }).kind === "value";
  return isWhole ? text : inPlaceOf(document.text, instead);
}
