/** One document of a stream, as text. */
export interface TextDocument {
  readonly text: string;
  /** 1-based line of the stream on which `text` begins. */
  readonly line: number;
}

/**
 * Splits a stream at its `---` lines, as kubectl does. What follows a marker on its own line belongs to the document.
 * Documents of nothing but white space and comments are left out.
 */
export function splitDocuments(stream: string): readonly TextDocument[] {
  const text = stream.charCodeAt(0) === 0xfeff ? stream.slice(1) : stream;
  const documents: TextDocument[] = [];
  let line = 1;
  let start = 0;
  const add = (from: number, to: number) => {
    const document = { text: text.slice(from, to), line };
    if (!isBlank(document.text)) documents.push(document);
    line += newlines(text, from, to);
    start = to;
  };
  let marker = isMarker(text, 0) ? 0 : nextMarker(text, 0);
  while (marker >= 0) {
    if (marker > start) add(start, marker);
    start = marker + 3;
    marker = nextMarker(text, start);
  }
  add(start, text.length);
  return documents;
}

/** Position of the next marker at the beginning of a line after `from`, or -1. */
function nextMarker(text: string, from: number): number {
  let position = text.indexOf("\n---", from);
  while (position >= 0 && !isMarker(text, position + 1)) position = text.indexOf("\n---", position + 1);
  return position < 0 ? -1 : position + 1;
}

function isMarker(text: string, at: number): boolean {
  if (!text.startsWith("---", at)) return false;
  const next = text.charAt(at + 3);
  return next === "" || next === "\n" || next === "\r" || next === " " || next === "\t";
}

export function newlines(text: string, from: number, to: number): number {
  let count = 0;
  for (let at = text.indexOf("\n", from); at >= 0 && at < to; at = text.indexOf("\n", at + 1)) count++;
  return count;
}

function isBlank(text: string): boolean {
  let at = contentStart(text, 0);
  // The end of a document may be marked where there is none.
  while (text.startsWith("...", at) && /^\s?$/.test(text.slice(at + 3, at + 4))) at = contentStart(text, at + 3);
  return at === text.length;
}

/** Where white space, comments and directives end. A regular expression for all of it has no room for a long text. */
export function contentStart(text: string, from: number): number {
  const content = /\S/g;
  content.lastIndex = from;
  for (let found = content.exec(text); found !== null; found = content.exec(text)) {
    if (found[0] !== "#" && found[0] !== "%") return found.index;
    const end = text.indexOf("\n", found.index);
    if (end < 0) return text.length;
    content.lastIndex = end + 1;
  }
  return text.length;
}

/** 1-based line of the first character that is neither white space nor comment. */
export function firstContentLine(document: TextDocument): number {
  return document.line + newlines(document.text, 0, contentStart(document.text, 0));
}

/**
 * Splits JSON values that follow each other without markers.
 *
 * @returns undefined where the text is anything but complete objects and white space
 */
export function splitJsonValues(document: TextDocument): readonly TextDocument[] | undefined {
  const { text } = document;
  const values: TextDocument[] = [];
  let line = document.line;
  let counted = 0;
  for (const [from, to] of objectSpans(text, 0)) {
    if (text.slice(counted, from).trim() !== "") return undefined;
    line += newlines(text, counted, from);
    values.push({ text: text.slice(from, to), line });
    line += newlines(text, from, to);
    counted = to;
  }
  return text.slice(counted).trim() === "" && values.length > 0 ? values : undefined;
}

/** Begin and end of every object of JSON text that stands at `level` braces and brackets deep. */
export function* objectSpans(text: string, level: number): Generator<readonly [number, number]> {
  let depth = 0;
  let start = 0;
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case 0x22:
        at = endOfString(text, at);
        break;
      case 0x7b:
      case 0x5b:
        if (depth === level) start = at;
        depth++;
        break;
      case 0x7d:
      case 0x5d:
        depth--;
        if (depth === level) yield [start, at + 1];
        break;
    }
  }
}

function endOfString(text: string, from: number): number {
  for (let at = from + 1; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 0x5c) at++;
    else if (code === 0x22) return at;
  }
  return text.length;
}
