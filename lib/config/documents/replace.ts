import { isNode, parseDocument } from "yaml";
import { type ObjectSource, readDocument } from "./parse.ts";
import { contentStart, newlines, type TextDocument } from "./split-documents.ts";

/** What is to stand in place of an object, or of a document. */
export interface Replacement extends Pick<ObjectSource, "document" | "path"> {
  /** One line of JSON. */
  readonly text: string;
}

/** A part of a text, and what is to stand there. */
interface Span {
  readonly from: number;
  readonly to: number;
  readonly text: string;
}

/**
 * A stream in which other values stand in place of some of its objects. All else stays on its line.
 *
 * @param instead stands in place of a document out of which an object cannot be cut, as where others refer to its anchors
 */
export function replaceIn(stream: string, replacements: readonly Replacement[], instead: string): string {
  const byDocument = [...Map.groupBy(replacements, ({ document }) => document)].sort(([a], [b]) => a.line - b.line);
  let [line, lineAt, end] = [1, 0, 0];
  const spans = byDocument.map(([document, all]): Span => {
    for (; line < document.line; line += 1) lineAt = stream.indexOf("\n", lineAt) + 1;
    // Several may begin on one line.
    const from = stream.indexOf(document.text, Math.max(lineAt, end));
    end = from + document.text.length;
    const whole = all.find(({ path }) => path.length === 0);
    const text = whole === undefined ? withItems(document, all, instead) : inPlaceOf(document.text, whole.text);
    return { from, to: end, text };
  });
  return withSpans(stream, spans);
}

/** @param spans in their order */
function withSpans(text: string, spans: readonly Span[]): string {
  const pieces: string[] = [];
  let at = 0;
  for (const { from, to, text: value } of spans) {
    pieces.push(text.slice(at, from), value);
    at = to;
  }
  return pieces.join("") + text.slice(at);
}

/** A value on the line on which a text's own begins, and as many lines as it has. */
function inPlaceOf(text: string, value: string): string {
  const start = contentStart(text, 0);
  const [before, after] = [newlines(text, 0, start), newlines(text, start, text.length)];
  // On the line of a marker it stands apart from it.
  return `${before === 0 ? " " : "\n".repeat(before)}${value}${"\n".repeat(after)}`;
}

function withItems(document: TextDocument, items: readonly Replacement[], instead: string): string {
  const parsed = parseDocument(document.text, { uniqueKeys: false, logLevel: "silent" });
  const spans = items.flatMap(({ path, text }): readonly Span[] => {
    const node = parsed.getIn(path, true);
    const range = isNode(node) ? node.range : undefined;
    if (range === undefined || range === null) return [];
    const cut = document.text.slice(range[0], range[1]);
    const content = cut.trimEnd();
    const rest = cut.slice(content.length);
    return [
      { from: range[0], to: range[1], text: `${text}${"\n".repeat(newlines(content, 0, content.length))}${rest}` },
    ];
  });
  const text = withSpans(
    document.text,
    spans.sort((a, b) => a.from - b.from),
  );
  const isWhole = spans.length === items.length && readDocument({ ...document, text }).kind === "value";
  return isWhole ? text : inPlaceOf(document.text, instead);
}
