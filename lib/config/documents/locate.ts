import { isMap, isNode, isPair, LineCounter, type ParsedNode, parseDocument, type YAMLMap } from "yaml";
import type { Path } from "../finding.ts";
import { camelFieldName } from "../read-spec.ts";
import type { TextDocument } from "./split-documents.ts";

/** 1-based line and column in the stream. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** Finds fields of one document, however often it is asked. */
export interface Locator {
  /**
   * Where fields stand, in either spelling of their names; the nearest enclosing thing that exists where a path leads nowhere.
   *
   * @param paths from the root of the document
   * @returns a position for each path, of a text of one line its beginning; none at all for a document of more than 4 Mi characters
   */
  locateAll(paths: readonly Path[]): readonly Position[];
}

/** In UTF-16 units. Positions take about a hundred times the memory of the text, so larger documents are not parsed for them. */
const maxLocatedSize = 4 * 1024 * 1024;

/** The document is parsed with positions when the first field is asked for, and only then: that is slow. */
export function createLocator(document: TextDocument): Locator {
  let parsed: PositionedDocument | undefined;
  return {
    locateAll(paths) {
      if (paths.length === 0 || document.text.length > maxLocatedSize) return [];
      // As servers write JSON: there is one line to be on, and the parser takes its time for such a text.
      if (!document.text.trimEnd().includes("\n")) return paths.map(() => ({ line: document.line, column: 1 }));
      parsed ??= parseWithPositions(document.text);
      const { root, counter, entriesOf } = parsed;
      return paths.map((path) => {
        const { line, col } = counter.linePos(offsetOf(root, path, entriesOf));
        return { line: document.line + Math.max(line, 1) - 1, column: Math.max(col, 1) };
      });
    },
  };
}

/** Parses the whole document for each call. Use `createLocator` to ask about one document several times. */
export const locateAll = (document: TextDocument, paths: readonly Path[]): readonly Position[] =>
  createLocator(document).locateAll(paths);

interface PositionedDocument {
  readonly root: ParsedNode | null;
  readonly counter: LineCounter;
  readonly entriesOf: (map: YAMLMap) => MapEntries;
}

/** Entries of a mapping by name; of several with one name, the first. */
interface MapEntries {
  readonly asWritten: ReadonlyMap<string, MapEntry>;
  readonly inCamelCase: ReadonlyMap<string, MapEntry>;
}

type MapEntry = YAMLMap["items"][number];

function parseWithPositions(text: string): PositionedDocument {
  const counter = new LineCounter();
  const root = parseDocument(text, { lineCounter: counter, uniqueKeys: false, logLevel: "silent" }).contents;
  const known = new Map<YAMLMap, MapEntries>();
  const entriesOf = (map: YAMLMap): MapEntries => {
    const entries = known.get(map) ?? indexEntries(map);
    known.set(map, entries);
    return entries;
  };
  return { root, counter, entriesOf };
}

function indexEntries(map: YAMLMap): MapEntries {
  const asWritten = new Map<string, MapEntry>();
  const inCamelCase = new Map<string, MapEntry>();
  for (const item of map.items) {
    if (!isPair(item) || !isNode(item.key)) continue;
    const name = String(item.key);
    const camel = camelFieldName(name);
    if (!asWritten.has(name)) asWritten.set(name, item);
    if (!inCamelCase.has(camel)) inCamelCase.set(camel, item);
  }
  return { asWritten, inCamelCase };
}

function offsetOf(root: ParsedNode | null, path: Path, entriesOf: PositionedDocument["entriesOf"]): number {
  let node: unknown = root;
  let offset = root?.range[0] ?? 0;
  for (const step of path) {
    if (isMap(node)) {
      const { asWritten, inCamelCase } = entriesOf(node);
      const name = String(step);
      // Paths are in camelCase; an operator may have written snake_case.
      const pair = asWritten.get(name) ?? inCamelCase.get(name);
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
