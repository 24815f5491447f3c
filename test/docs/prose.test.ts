import { describe, expect, it } from "vitest";
import { countsOf, type Findings, findingsOf, pagesOfProse, proseFindings } from "./prose.ts";
import baseline from "./prose-baseline.json" with { type: "json" };

const allowed: Readonly<Record<string, Findings>> = baseline;
const none: Findings = { longSentences: 0, bannedWords: 0, longLines: 0 };

describe("the prose of the pages", () => {
  it.each(pagesOfProse())("of %s breaks the writing standard no more often than before", (page) => {
    const findings = findingsOf(page);
    const [counts, most] = [countsOf(findings), allowed[page] ?? none];
    const complaints = findings
      .filter(({ rule }) => counts[rule] > most[rule])
      .map(({ rule, line, text }) => `${page}:${line}: ${rule}: ${text}`);
    expect(complaints).toEqual([]);
  });

  it("has a baseline that only goes down", () => {
    const pages = pagesOfProse();
    const now = pages.map((page) => [page, countsOf(findingsOf(page))] as const);
    const better = now.filter(([page, counts]) => JSON.stringify(counts) !== JSON.stringify(allowed[page] ?? none));
    // `node test/docs/write-prose-baseline.ts` writes the lower counts.
    expect(better.map(([page]) => page)).toEqual([]);
    expect(Object.keys(allowed).filter((page) => !pages.includes(page))).toEqual([]);
  });
});

describe("what is found in prose", () => {
  it("is long sentences, banned words and long lines, in paragraphs, lists and tables", () => {
    const long = Array.from({ length: 26 }, (_, at) => `word${at}`).join(" ");
    const found = proseFindings(`# Who says\n\n${long}.\n\n- It is told.\n\n| a | nobody |\n`);
    expect(found.map(({ rule, line }) => [rule, line])).toEqual([
      ["longLines", 3],
      ["longSentences", 3],
      ["bannedWords", 5],
      ["bannedWords", 7],
    ]);
  });

  it("is nothing in code, links' addresses and short sentences side by side", () => {
    const sentence = "It has a few words only, and ends here. ";
    expect(proseFindings("```console\nwho says\n```\n\n`who` [a page](who-says.md)")).toEqual([]);
    expect(proseFindings(`${sentence}${sentence}\n${sentence}${sentence}`)).toEqual([]);
  });
});
