import { globSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";

const root = resolve(import.meta.dirname, "../..");

/** What of a page breaks the writing standard in CONTRIBUTING.md; counts. */
export interface Findings {
  /** Sentences of more than `maxWords` words. */
  readonly longSentences: number;
  /** Words that make a program a person, or that the standard replaces. */
  readonly bannedWords: number;
  /** Lines of prose over `maxColumns`; tables, code and pictures are not prose. */
  readonly longLines: number;
}

export interface Finding {
  readonly rule: keyof Findings;
  /** 1-based. */
  readonly line: number;
  readonly text: string;
}

export const maxWords = 25;
export const maxColumns = 110;

/** "Said", "says" and "who" are for people; in these pages they stand for programs, files and requests. */
export const bannedWords =
  /\b(?:who|whoever|whom|nobody|somebody|anybody|everybody|told|tells|says|said|knows|wants|lately)\b/gi;

/** Pages that people read; decisions and facts about Istio are records and keep their words. */
export function pagesOfProse(): readonly string[] {
  return globSync(["README.md", "CONTRIBUTING.md", "SECURITY.md", "docs/*.md", "docs/{diagnostics,reference}/*.md"], {
    cwd: root,
  }).sort();
}

export function findingsOf(page: string): readonly Finding[] {
  return proseFindings(readFileSync(join(root, page), "utf8"));
}

/** @param text of a page in Markdown */
export function proseFindings(text: string): readonly Finding[] {
  const findings: Finding[] = [];
  for (const block of blocks(text)) {
    for (const [at, line] of block.lines.entries())
      if (!block.isTable && line.length > maxColumns && !/^\s*!?\[[^\]]*\]\([^)]*\)\s*$/.test(line))
        findings.push({ rule: "longLines", line: block.line + at, text: line });
    const plain = plainText(block.lines.join(" "));
    for (const sentence of plain.split(/(?<=[.!?:;])\s+(?=\S)|\s\|\s|\s\|$/)) {
      const words = sentence.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word));
      if (words.length > maxWords) findings.push({ rule: "longSentences", line: block.line, text: sentence });
      for (const [word] of sentence.matchAll(bannedWords))
        findings.push({ rule: "bannedWords", line: block.line, text: `${word}: ${sentence}` });
    }
  }
  return findings;
}

export function countsOf(findings: readonly Finding[]): Findings {
  const count = (rule: keyof Findings) => findings.filter((one) => one.rule === rule).length;
  return {
    longSentences: count("longSentences"),
    bannedWords: count("bannedWords"),
    longLines: count("longLines"),
  };
}

interface Block {
  /** 1-based. */
  readonly line: number;
  readonly lines: readonly string[];
  readonly isTable: boolean;
}

/** Paragraphs, items of lists and rows of tables; no code, no comments. */
function blocks(text: string): readonly Block[] {
  const found: Block[] = [];
  let open: { readonly line: number; readonly lines: string[] } | undefined;
  let isCode = false;
  for (const [at, line] of text.split("\n").entries()) {
    const isFence = line.trim().startsWith("```");
    if (isFence) isCode = !isCode;
    const begins = /^\s*(?:[-*]|\d+\.)\s/.test(line);
    if (isFence || isCode || begins || !/\S/.test(line) || /^\s*[|#<>]/.test(line)) {
      if (open !== undefined) found.push({ ...open, isTable: false });
      open = undefined;
    }
    if (isFence || isCode || !/\S/.test(line) || /^\s*[#<>]/.test(line)) continue;
    if (line.trim().startsWith("|")) found.push({ line: at + 1, lines: [line], isTable: true });
    else if (open === undefined) open = { line: at + 1, lines: [line] };
    else open.lines.push(line);
  }
  if (open !== undefined) found.push({ ...open, isTable: false });
  return found;
}

/** Code counts as one word, a link as its text. */
function plainText(text: string): string {
  return text
    .replaceAll(/`[^`]*`/g, "CODE")
    .replaceAll(/!?\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replaceAll(/[*_]{1,2}/g, "");
}
