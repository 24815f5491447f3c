import { describe, expect, it } from "vitest";
import { bannedIn, messagesOfCode } from "./messages.ts";

/** Texts that are not prose: a shell's own word, and templates of names. */
const exceptions = /^#compdef portolan/;

describe("messages, help and labels", () => {
  it("make no person of a program", () => {
    const messages = messagesOfCode();
    expect(messages.length).toBeGreaterThan(2_000);
    const complaints = messages
      .filter(({ text }) => !exceptions.test(text) && bannedIn(text).length > 0)
      .map(({ where, text }) => `${where}: ${bannedIn(text).join(", ")}: ${text}`);
    expect(complaints).toEqual([]);
  }, 300_000);
});
