import { globSync, readFileSync } from "node:fs";

/** A block of commands on a page that people read. */
export interface CommandBlock {
  readonly page: string;
  /** Of the opening fence, 1-based. */
  readonly line: number;
  readonly text: string;
  /** From `<!-- newcomer: … -->` on the line before. */
  readonly mark: BlockMark;
}

export type BlockMark =
  | { readonly kind: "run" }
  /** Goes on until it prints this, and is then stopped. */
  | { readonly kind: "until"; readonly text: string }
  /** Is done while this other command runs, which says Ctrl-C, `serving` or, as wrangler does, `Ready on` when it is up. */
  | { readonly kind: "beside"; readonly command: string }
  /** Cannot be run by everybody. */
  | { readonly kind: "skip"; readonly why: string }
  | { readonly kind: "unknown"; readonly text: string };

/** Reasons that count for leaving a block out. */
export const reasons =
  /^needs (?:an account|a cluster|kubectl|another machine|a program of gRPC|the package on npm)|^is the test run that this is part of$/;

/** README, CONTRIBUTING, all of docs, and the samples' own pages; in the order of their paths. */
export function pages(root: string): readonly string[] {
  return globSync(["*.md", "docs/**/*.md", "samples/**/*.md"], { cwd: root }).sort();
}

/** Blocks of one page. @returns those of the language `console`, which is what commands are written in */
export function blocksOf(root: string, page: string): readonly CommandBlock[] {
  const lines = readFileSync(`${root}/${page}`, "utf8").split("\n");
  const blocks: CommandBlock[] = [];
  for (let i = 0; i < lines.length; i += 1) {
    if (lines[i]?.trim() !== "```console") continue;
    const end = lines.findIndex((line, at) => at > i && line.trim() === "```");
    if (end === -1) throw new Error(`${page}:${i + 1}: a block of commands without an end`);
    blocks.push({ page, line: i + 1, text: lines.slice(i + 1, end).join("\n"), mark: markOf(lines[i - 1] ?? "") });
    i = end;
  }
  return blocks;
}

function markOf(line: string): BlockMark {
  const [, text] = /^<!-- newcomer: (.*) -->$/.exec(line.trim()) ?? [];
  if (text === undefined) return { kind: "run" };
  if (text.startsWith("until ")) return { kind: "until", text: text.slice("until ".length) };
  if (text.startsWith("beside ")) return { kind: "beside", command: text.slice("beside ".length) };
  if (text.startsWith("skip, ")) return { kind: "skip", why: text.slice("skip, ".length) };
  return { kind: "unknown", text };
}
