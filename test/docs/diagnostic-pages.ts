import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { SourceFile } from "../../lib/config/folder/directory.ts";

const pages = resolve(import.meta.dirname, "../../docs/diagnostics");
const examplesFolder = resolve(import.meta.dirname, "examples");

/** A code's entry on a page of `docs/diagnostics/`. */
export interface Entry {
  readonly code: string;
  /** As the page states them: `error`, `warning`, `info`. */
  readonly severities: readonly string[];
  /** What the entry tells a reader to do; empty when it forgot. */
  readonly remedy: string;
}

/** A code's section in a file of `test/docs/examples/`. */
export interface Example {
  readonly code: string;
  /** Why no folder can provoke the code; undefined for a code with an example. */
  readonly whyNot: string | undefined;
  /** The example's files; several steps where the code speaks of a change. */
  readonly steps: readonly (readonly SourceFile[])[];
}

interface Block {
  readonly name: string;
  readonly text: string;
}

function blocksOf(text: string): readonly Block[] {
  return [...text.matchAll(/^```yaml ?(.*)\n([\s\S]*?)^```$/gm)].map((match) => ({
    name: match[1] ?? "",
    text: match[2] ?? "",
  }));
}

/** The blocks `before` and `after` are one file at two times; any other name is that of a file, none a file of its own. */
function stepsOf(blocks: readonly Block[]): Example["steps"] {
  const [before, after] = ["before", "after"].map((step) => blocks.find(({ name }) => name === step)?.text);
  if (before !== undefined && after !== undefined) {
    return [[{ file: "example.yaml", text: before }], [{ file: "example.yaml", text: after.trimEnd() }]];
  }
  return blocks.length === 0 ? [] : [blocks.map(({ name, text }) => ({ file: name || "example.yaml", text }))];
}

const codeOf = (section: string): string => {
  const [heading = ""] = section.split("\n", 1);
  return /`(.+)`/.exec(heading)?.[1] ?? heading;
};

const sectionsOf = (folder: string, page: string): readonly string[] =>
  readFileSync(join(folder, `${page}.md`), "utf8")
    .split(/^### /m)
    .slice(1);

/** The entries of a page, in its order. */
export function entriesOf(page: string): readonly Entry[] {
  return sectionsOf(pages, page).map((section) => ({
    code: codeOf(section),
    severities: /^\*(.+?)\.\*/m.exec(section)?.[1]?.toLowerCase().split(" or ") ?? [],
    remedy: /^\*\*Do:\*\* (.+)/m.exec(section)?.[1] ?? "",
  }));
}

/** The examples for the codes of a page, in its order. */
export function examplesOf(page: string): readonly Example[] {
  return sectionsOf(examplesFolder, page).map((section) => ({
    code: codeOf(section),
    whyNot: /^Not from a folder[\s\S]+?(?=\n\n|$)/m.exec(section)?.[0],
    steps: stepsOf(blocksOf(section)),
  }));
}

/** The objects that every example stands beside. */
export function worldOfExamples(): SourceFile {
  const [block] = blocksOf(readFileSync(join(examplesFolder, "README.md"), "utf8"));
  return { file: "world.yaml", text: block?.text ?? "" };
}
