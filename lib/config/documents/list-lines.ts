import { objectSpans, type TextDocument } from "./split-documents.ts";

/**
 * Lines on which the items of a list document begin, without parsing it a second time.
 *
 * @returns 1-based lines of the stream in item order; fewer than there are items where the layout is unusual
 */
export function itemLines(document: TextDocument): readonly number[] {
  return document.text.trimStart().startsWith("{") ? jsonItemLines(document) : yamlItemLines(document);
}

/** Items of the one array of the top level that holds objects: spans two levels deep. */
function jsonItemLines(document: TextDocument): readonly number[] {
  const items = document.text.search(/"items"\s*:\s*\[/);
  if (items < 0) return [];
  const tail = document.text.slice(items);
  const lines: number[] = [];
  let line = document.line + countLines(document.text.slice(0, items));
  let counted = 0;
  for (const [from] of objectSpans(tail, 1)) {
    line += countLines(tail.slice(counted, from));
    counted = from;
    lines.push(line);
  }
  return lines;
}

/** Lines that begin with a dash at the indentation of the first one below `items:`. */
function yamlItemLines(document: TextDocument): readonly number[] {
  const lines = document.text.split("\n");
  const items = lines.findIndex((line) => /^items:\s*(?:#.*)?$/.test(line.trimEnd()));
  if (items < 0) return [];
  const found: number[] = [];
  let indent: string | undefined;
  for (let index = items + 1; index < lines.length; index++) {
    const line = lines[index] ?? "";
    const dash = /^( *)-(?: |$|\r)/.exec(line);
    indent ??= dash?.[1];
    if (dash !== null && dash[1] === indent) found.push(document.line + index);
    else if (/^[^\s#-]/.test(line)) break;
  }
  return found;
}

function countLines(text: string): number {
  let count = 0;
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) count++;
  return count;
}
