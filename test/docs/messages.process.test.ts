import { describe, expect, it } from "vitest";
import { bannedIn, messagesOfCode } from "./messages.ts";

/** Texts that are not prose: a shell's own word, and templates of names. */
const exceptions = /^#compdef portolan/;

const wordsIn = (text: string): number => text.match(/\p{L}+/gu)?.length ?? 0;
const messages = messagesOfCode().filter(({ text }) => !exceptions.test(text));

describe("messages, help and labels", () => {
  it("make no person of a program", () => {
    expect(messages.length).toBeGreaterThan(2_000);
    const complaints = messages
      .filter(({ text }) => bannedIn(text).length > 0)
      .map(({ where, text }) => `${where}: ${bannedIn(text).join(", ")}: ${text}`);
    expect(complaints).toEqual([]);
  }, 300_000);

  /** A change of words shows in review. `npx vitest run test/docs/messages.process.test.ts -u` writes the file. */
  it("of four words or more are those of texts.txt, by file", async () => {
    const byFile = Map.groupBy(messages, ({ where }) => where.replace(/:\d+$/, ""));
    const sections = [...byFile].flatMap(([file, said]) => {
      const sentences = said.map(({ text }) => text.replaceAll(/\s+/g, " ")).filter((text) => wordsIn(text) >= 4);
      const texts = [...new Set(sentences)];
      if (texts.length === 0) return [];
      return `${file}\n${texts.map((text) => `  ${text}\n`).join("")}`;
    });
    await expect(sections.join("\n")).toMatchFileSnapshot("texts.txt");
  }, 300_000);
});
