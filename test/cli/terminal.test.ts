import { expect, it } from "vitest";
import { harmless } from "../../lib/cli/terminal.ts";

it("lets colours and lines through to a terminal, and nothing else that it would obey", () => {
  const coloured = "\u001b[31merror\u001b[39m a\n\tb: größer";
  expect(harmless(coloured)).toBe(coloured);
  expect(harmless("no such\u001b[2J \u001b]0;title\u0007 \r\b \u009b1A")).toBe("no such�[2J �]0;title� �� �1A");
  expect(harmless("reviews\u202egpj.exe\u2066")).toBe("reviews�gpj.exe�");
});
