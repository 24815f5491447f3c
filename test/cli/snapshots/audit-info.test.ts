import { InvalidArgumentError } from "commander";
import { describe, expect, it } from "vitest";
import { auditInfoOf } from "../../../lib/cli/snapshots/audit-info.ts";

describe("who acts and why, on the command line", () => {
  it.each([
    ["--by", { by: "b".repeat(513) }],
    ["--why", { by: "me", why: "w".repeat(2_049) }],
    ["--why", { by: "me", why: "ä".repeat(1_025) }],
  ])("is refused where it is longer than the history takes, without being printed: %s", (option, words) => {
    expect(() => auditInfoOf(words)).toThrow(InvalidArgumentError);
    expect(() => auditInfoOf(words)).toThrow(new RegExp(`^${option} has more than \\d+ bytes; say it in fewer words$`));
  });

  it("may be as long as the history takes", () => {
    const words = { by: "b".repeat(512), why: "w".repeat(2_048) };
    expect(auditInfoOf(words)).toEqual(words);
  });
});
