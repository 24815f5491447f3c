import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { SourceFile } from "../../lib/config/folder/directory.ts";

const folder = resolve(import.meta.dirname, "../../docs/diagnostics");

/** What a page says of one code. */
export interface Entry {
  readonly code: string;
  /** As the page states them: `error`, `warning`, `info`. */
  readonly severities: readonly string[];
  /** What the entry tells a reader to do; empty when it forgot. */
  readonly remedy: string;
  /** Why no folder can provoke the code; undefined for an entry with an example. */
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
function stepsOf(blocks: readonly Block[]): Entry["steps"] {
  const [before, after] = ["before", "after"].map((step) => blocks.find(({ name }) => name === step)?.text);
  if (before !== undefined && after !== undefined) {
    return [[{ file: "example.yaml", text: before }], [{ file: "example.yaml", text: after.trimEnd() }]];
  }
  return blocks.length === 0 ? [] : [blocks.map(({ name, text }) => ({ file: name || "example.yaml", text }))];
}

function entryOf(section: string): Entry {
  const [heading = ""] = section.split("\n", 1);
  return {
    code: /`(.+)`/.exec(heading)?.[1] ?? heading,
    severities: /^\*(.+?)\.\*/m.exec(section)?.[1]?.toLowerCase().split(" or ") ?? [],
    remedy: /^\*\*Do:\*\* (.+)/m.exec(section)?.[1] ?? "",
    whyNot: /^(Not from a folder[\s\S]+?)\n\n/m.exec(section)?.[1],
    steps: stepsOf(blocksOf(section)),
  };
}

/** The entries of a page, in its order. */
export function entriesOf(page: string): readonly Entry[] {
  const [, ...sections] = readFileSync(join(folder, `${page}.md`), "utf8").split(/^### /m);
  return sections.map(entryOf);
}

/** The objects that every example stands beside. */
export function worldOfExamples(): SourceFile {
  const [block] = blocksOf(readFileSync(join(folder, "README.md"), "utf8"));
  return { file: "world.yaml", text: block?.text ?? "" };
}
