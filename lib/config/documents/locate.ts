import { isMap, isNode, isPair, LineCounter, type ParsedNode, parseDocument } from "yaml";
import type { Path } from "../finding.ts";
import { camelFieldName } from "../read-spec.ts";
import type { TextDocument } from "./split-documents.ts";

/** 1-based line and column in the stream. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/**
 * Finds where a field stands, in either spelling of its name; the nearest enclosing thing that exists where the path leads nowhere.
 * Parses the document with positions, which is slow: for the documents that diagnostics are about.
 */
export function locateAll(document: TextDocument, paths: readonly Path[]): readonly Position[] {
  const counter = new LineCounter();
  const root = parseDocument(document.text, { lineCounter: counter, uniqueKeys: false, logLevel: "silent" }).contents;
  return paths.map((path) => {
    const { line, col } = counter.linePos(offsetOf(root, path));
    return { line: document.line + Math.max(line, 1) - 1, column: Math.max(col, 1) };
  });
}

export function locate(document: TextDocument, path: Path): Position {
  return locateAll(document, [path])[0] ?? { line: document.line, column: 1 };
}

function offsetOf(root: ParsedNode | null, path: Path): number {
  let node: unknown = root;
  let offset = root?.range[0] ?? 0;
  for (const step of path) {
    if (isMap(node)) {
      const { items } = node;
      const named = (is: (name: string) => boolean) =>
        items.find((item) => isPair(item) && isNode(item.key) && is(String(item.key)));
      const name = String(step);
      // Paths say camelCase; an operator may have written snake_case.
      const pair = named((key) => key === name) ?? named((key) => camelFieldName(key) === name);
      if (pair === undefined) return offset;
      offset = isNode(pair.key) ? (pair.key.range?.[0] ?? offset) : offset;
      node = pair.value;
    } else if (isNode(node) && "items" in node && Array.isArray(node.items)) {
      const item: unknown = node.items[Number(step)];
      if (!isNode(item)) return offset;
      offset = item.range?.[0] ?? offset;
      node = item;
    } else return offset;
  }
  return offset;
}
