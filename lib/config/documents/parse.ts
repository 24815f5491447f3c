import { CORE_SCHEMA, load, mergeTag, YAMLException } from "js-yaml";
import { type Diagnostic, fileOrigin, type Origin, type Stage } from "../../base/diagnostic.ts";
import { isFields } from "../../base/untyped.ts";
import { moreHint, worstOf } from "../finding.ts";
import { groupVersion } from "../values/group-version.ts";
import { expansionOf, mayHoldAlias } from "./expansion.ts";
import {
  documentOfInput,
  type ForeignDocument,
  foreignDocument,
  hasYttMark,
  helmTemplate,
  type ToolInput,
  unfilledText,
} from "./foreign-document.ts";
import { hasRepeatedName } from "./json-names.ts";
import { leftOutOfDocument } from "./left-out-document.ts";
import { isList, type List } from "./list.ts";
import { itemLines } from "./list-lines.ts";
import { createLocator, type Locator } from "./locate.ts";
import { firstContentLine, splitDocuments, splitJsonValues, type TextDocument } from "./split-documents.ts";

/** An object of a stream, as written: only its envelope has been read. */
export interface ParsedObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ParsedMetadata;
  readonly origin: Origin;
  readonly [field: string]: unknown;
}

export interface ParsedMetadata {
  readonly name: string;
  readonly namespace?: string;
  readonly [field: string]: unknown;
}

/** Finds the text that an object was read from, for diagnostics that name lines and columns. */
export type SourceOf = (object: ParsedObject) => ObjectSource | undefined;

export interface ObjectSource {
  readonly document: TextDocument;
  /** Of the document, shared by all objects that were read from it. */
  readonly locator: Locator;
  /** From the document's root to the object: empty, or `["items", 3]`. */
  readonly path: readonly (string | number)[];
  /** Whether the document is a template of ytt: its whole text is searched, when it is first asked of any part of it; absent: not. */
  readonly isYtt?: () => boolean;
  /** What is to be said of the object instead of reading it, as other files of its folder say; absent: nothing. */
  readonly foreign?: ForeignDocument;
}

export interface ParsedStream extends Stage<readonly ParsedObject[]> {
  readonly sourceOf: SourceOf;
  /** What holds no object: settings, items of lists that are none, and documents that could not be read. */
  readonly others: readonly OtherText[];
}

export interface OtherText extends ObjectSource {
  /** Set where the document is a Helm template: its whole text is searched, when it is first asked of any part of the document. */
  readonly template: () => ForeignDocument | undefined;
  /** 1-based line on which it begins. */
  readonly line: number;
  /** Absent where the document could not be read. */
  readonly read?: { readonly value: unknown };
  /** Why it could not be read, where it is too large or too deep; absent otherwise. */
  readonly excess?: string;
}

export interface ParseOptions {
  /** Name of the stream in origins. */
  readonly file: string;
  /** Larger streams are refused; 256 MiB when absent. In UTF-16 units. */
  readonly maxSize?: number;
  /** It was read before, and nothing was wrong with it: how deep it is and how much it expands to is not looked at. False when absent. */
  readonly skipRules?: boolean;
  /** What other files say of this one; absent: nothing. */
  readonly input?: ToolInput;
}

const defaultMaxSize = 256 * 1024 * 1024;
/** A stream reports so many faults of documents and items; one more diagnostic counts the rest. */
const maxReported = 200;
const maxDepth = 100;
/** Aliases share what they name, so a small text can mean a tree without end; this many values are believed. */
const maxValues = 5_000_000;
/** What aliases may make of a document, in its own length: a block that many routes share comes to less. */
const maxExpansion = 64;
/** An object of a list takes so many characters at least, unless it is an alias, and then it is another one once more. */
const minObjectSize = 16;
/** So many a short document may have. */
const fewObjects = 8;

const schema = CORE_SCHEMA.withTags(mergeTag);

/**
 * Reads a stream of YAML and JSON documents; lists are opened. A document that cannot be read costs only itself.
 *
 * @returns objects in the order of the stream; diagnostics `unreadable-document`, `not-an-object`, and of documents that
 *   are meant for other programs `helm-template` (once a stream) and `kustomize-input`
 */
export function parseStream(text: string, options: ParseOptions): ParsedStream {
  const sources = new Map<ParsedObject, ObjectSource>();
  const objects: ParsedObject[] = [];
  const diagnostics: Diagnostic[] = [];
  const others: OtherText[] = [];
  let isTemplateReported = false;
  const unreported: Diagnostic["severity"][] = [];
  const tell = (line: number, about: ForeignDocument) => {
    if (about.code === "helm-template") {
      if (isTemplateReported) return;
      isTemplateReported = true;
    } else if (diagnostics.length >= maxReported) {
      unreported.push(about.severity);
      return;
    }
    diagnostics.push({ ...about, origin: fileOrigin(options.file, line), path: [] });
  };
  const sourceOf: SourceOf = (object) => sources.get(object);
  const ofInput = documentOfInput(options.input);
  const maxSize = options.maxSize ?? defaultMaxSize;
  const limit = options.skipRules === true ? Number.POSITIVE_INFINITY : maxValues;
  if (text.length > maxSize) {
    tell(1, unreadableDocument(`the stream is longer than ${maxSize}`, "split it into several files"));
    others.push({ ...openDocument({ text, line: 1 }), line: 1, path: [] });
    return { value: objects, diagnostics, sourceOf, others };
  }

  const add = (value: unknown, from: OpenDocument, line: number, path: ObjectSource["path"]) => {
    const { document, locator, isYtt } = from;
    const leftOut = leftOutOfDocument(value);
    if (leftOut !== undefined) {
      diagnostics.push({ ...leftOut, origin: fileOrigin(options.file, line), path: [] });
      others.push({ ...from, line, path, read: { value } });
      return;
    }
    const object = objectOf(value, options.file, line);
    const isOdd = typeof object === "string" || object.metadata.name.includes("{{") || object.$patch !== undefined;
    const template = isOdd || options.input === "chart-template" ? from.template() : undefined;
    const foreign = template ?? (isOdd ? (ofInput ?? foreignDocument(value, options.file, from.isYtt)) : undefined);
    if (foreign !== undefined || typeof object === "string") {
      tell(line, foreign ?? notAnObject(typeof object === "string" ? object : ""));
      others.push({ ...from, line, path, read: { value } });
      return;
    }
    objects.push(object);
    sources.set(object, { document, locator, path, isYtt, ...(ofInput === undefined ? {} : { foreign: ofInput }) });
  };
  const addItems = (list: List, from: OpenDocument, line: number, path: ObjectSource["path"]) => {
    const lines = path.length === 0 ? itemLines(from.document) : [];
    for (const [index, item] of (list.items ?? []).entries()) {
      const itemLine = lines[index] ?? line;
      const place = [...path, "items", index];
      if (isList(item)) addItems(item, from, itemLine, place);
      else add(withKindOf(list, item), from, itemLine, place);
    }
  };
  const read = (document: TextDocument) => {
    const from = openDocument(document, options.input);
    const reading = readDocument(document, limit);
    if (reading.kind === "several") {
      for (const part of reading.parts) read(part);
      return;
    }
    if (reading.kind === "unreadable") {
      const broken = unreadableDocument(reading.message, "nothing of this document was read");
      const unfilled = () =>
        unfilledText(document.text, (text) => readDocument({ ...document, text }).kind === "value");
      tell(
        reading.line,
        from.template() ?? ofInput ?? (reading.excess === undefined ? unfilled() : undefined) ?? broken,
      );
      const excess = reading.excess === undefined ? {} : { excess: reading.excess };
      others.push({ ...from, line: reading.line, path: [], ...excess });
      return;
    }
    const { value } = reading;
    if (value === null || value === undefined) return;
    const line = firstContentLine(document);
    if (isList(value)) addItems(value, from, line, []);
    else add(value, from, line, []);
  };
  for (const document of splitDocuments(text)) read(document);
  if (unreported.length > 0) {
    diagnostics.push({
      code: "more-findings",
      severity: worstOf(unreported),
      origin: fileOrigin(options.file, 1),
      path: [],
      message: `${unreported.length} more documents or items of this file hold no object that can be read`,
      hint: moreHint,
    });
  }
  return { value: objects, diagnostics, sourceOf, others };
}

/** What is worked out once for a document, however many items it has. */
type OpenDocument = Pick<OtherText, "document" | "locator" | "template"> & Required<Pick<ObjectSource, "isYtt">>;

function openDocument(document: TextDocument, input?: ToolInput): OpenDocument {
  let searched: { readonly found: ForeignDocument | undefined } | undefined;
  let ytt: boolean | undefined;
  return {
    document,
    locator: createLocator(document),
    template: () => {
      searched ??= { found: helmTemplate(document.text, input) };
      return searched.found;
    },
    isYtt: () => {
      ytt ??= hasYttMark(document.text);
      return ytt;
    },
  };
}

function unreadableDocument(message: string, hint: string): ForeignDocument {
  return { code: "unreadable-document", severity: "error", message, hint };
}

function notAnObject(message: string): ForeignDocument {
  return {
    code: "not-an-object",
    severity: "error",
    message,
    hint: "an object needs apiVersion, kind and metadata.name",
  };
}

/**
 * How long the documents of a stream that hold aliases are with these written out, by the lines on which they begin; of one that cannot be
 * read it counts as nothing.
 */
export const expandedSizes = (text: string): readonly { readonly line: number; readonly size: number }[] =>
  mayHoldAlias(text)
    ? splitDocuments(text)
        .filter((document) => mayHoldAlias(document.text))
        .map((document) => {
          const reading = readDocument(document);
          const size = reading.kind === "value" ? expansionOf(reading.value, maxDepth).size : 0;
          return { line: firstContentLine(document), size };
        })
    : [];

/** What one document holds. */
export type Reading =
  | { readonly kind: "value"; readonly value: unknown }
  | { readonly kind: "several"; readonly parts: readonly TextDocument[] }
  | Unreadable;

interface Unreadable {
  readonly kind: "unreadable";
  readonly message: string;
  readonly line: number;
  /** Which bound it exceeds, where that is why: nothing of the document is in these words. Absent: the text is none that can be read. */
  readonly excess?: string;
}

/**
 * JSON through the fast parser, anything else through YAML's.
 *
 * @param limit how many values it may expand to; infinite for a text of which it is known that it is none too large, nor too deep
 */
export function readDocument(document: TextDocument, limit = maxValues): Reading {
  const json = parseJson(document.text);
  const isChecked = limit !== Number.POSITIVE_INFINITY;
  // JSON's parser takes the last of two values with one name; YAML's refuses both, with the line.
  if (json !== undefined && isChecked && hasRepeatedName(document.text)) return readYaml(document, limit);
  if (json !== undefined) return checked(json, document, limit);
  const parts = document.text.trimStart().startsWith("{") ? splitJsonValues(document) : undefined;
  if (parts !== undefined && parts.length > 1) return { kind: "several", parts };
  return readYaml(document, limit);
}

/** The same for a text that holds one value, which JSON's parser is not asked about: a name that comes twice is an error. */
export function readYaml(document: TextDocument, limit = maxValues): Exclude<Reading, { readonly kind: "several" }> {
  try {
    return checked(load(document.text, { schema, maxDepth }), document, limit);
  } catch (cause) {
    if (!(cause instanceof YAMLException)) return unreadable(document, String(cause));
    return {
      kind: "unreadable",
      message: sayings[cause.reason] ?? cause.reason,
      // What misses at the end is said of the line after it, which an editor does not have.
      line: document.line + Math.min(cause.mark?.line ?? 0, lastContentLine(document.text)),
    };
  }
}

/** What the parser's words for a text that does not end mean to whoever wrote it. */
const sayings: Readonly<Record<string, string>> = {
  "deficient indentation": 'a "[", "{" or quotation mark above is not closed: close it, or indent what it holds',
  "missed comma between flow collection entries": 'a comma is missing, or the "]" or "}" of what was begun last',
  "unexpected end of the stream within a flow collection": 'a "[" or "{" is not closed: close it',
  "unexpected end of the stream within a single quoted scalar": "a ' is not closed: close it",
  "unexpected end of the stream within a double quoted scalar": 'a " is not closed: close it',
};

/** From 0. */
const lastContentLine = (text: string): number => text.trimEnd().split("\n").length - 1;

function unreadable(document: TextDocument, message: string): Unreadable {
  return { kind: "unreadable", message, line: document.line };
}

const jsonObject = /^\s*\{\s*["}]/;

function parseJson(text: string): unknown {
  // Where it cannot be JSON, as in a template, the many errors of a long stream cost more than the rest of reading it.
  if (!jsonObject.test(text)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    // Flow mappings of YAML begin with a brace as well: the YAML parser has the last word and the better message.
    return undefined;
  }
}

function checked(
  value: unknown,
  document: TextDocument,
  limit: number,
): Exclude<Reading, { readonly kind: "several" }> {
  if (limit === Number.POSITIVE_INFINITY) return { kind: "value", value };
  const excess = excessOf(value, document.text, limit);
  return excess === undefined ? { kind: "value", value } : { ...unreadable(document, excess), excess };
}

const tooDeep = `is nested more than ${maxDepth} levels deep`;
const tooManyValues = "expands to too many values";

/** Which bound a document exceeds, in words for a message; undefined for none. */
function excessOf(value: unknown, text: string, limit: number): string | undefined {
  if (!mayHoldAlias(text)) {
    const budget = { values: limit };
    if (isWithin(value, maxDepth, budget)) return undefined;
    return budget.values < 0 ? tooManyValues : tooDeep;
  }
  const { values, size, depth, objects } = expansionOf(value, maxDepth);
  if (depth > maxDepth) return tooDeep;
  if (values > limit || size > maxExpansion * text.length)
    return `${tooManyValues}: with its aliases written out it is more than ${maxExpansion} times as long, or has more than ${limit} values`;
  if (objects > Math.max(text.length / minObjectSize, fewObjects))
    return `${tooManyValues}: its aliases name the objects of its lists again and again`;
  return undefined;
}

function isWithin(value: unknown, depth: number, budget: { values: number }): boolean {
  if (typeof value !== "object" || value === null) return true;
  if (depth === 0) return false;
  if (Array.isArray(value)) {
    budget.values -= value.length;
    if (budget.values < 0) return false;
    for (const element of value) if (!isWithin(element, depth - 1, budget)) return false;
    return true;
  }
  if (!isFields(value)) return true;
  for (const name in value) {
    budget.values--;
    if (budget.values < 0 || !isWithin(value[name], depth - 1, budget)) return false;
  }
  return true;
}

/** Items of a typed list (`VirtualServiceList`) may leave out what the list's own kind says. */
function withKindOf(list: List, item: unknown): unknown {
  if (!isFields(item) || list.kind === "List") return item;
  const kind = list.kind.slice(0, -"List".length);
  return { apiVersion: list.apiVersion, kind, ...item };
}

/** The object with its origin, or what is wrong with its envelope. */
function objectOf(value: unknown, file: string, line: number): ParsedObject | string {
  if (!isFields(value)) return "the document is not an object";
  const { apiVersion = "", kind, metadata } = value;
  if (typeof kind !== "string" || kind === "") return "the object has no kind";
  if (typeof apiVersion !== "string") return "apiVersion is not a text";
  if (!isFields(metadata)) return `the ${kind} has no metadata`;
  const { name, namespace, ...rest } = metadata;
  if (typeof name !== "string" || name === "") return `the ${kind} has no metadata.name`;
  if (namespace !== undefined && namespace !== null && typeof namespace !== "string") {
    return `the namespace of ${kind} ${name} is not a text`;
  }
  const space = namespace ?? "";
  return {
    ...value,
    apiVersion,
    kind,
    metadata: { name, ...(space === "" ? {} : { namespace: space }), ...rest },
    origin: { key: { group: groupVersion(apiVersion).group, kind, name, namespace: space }, file, line },
  };
}
