import picocolors from "picocolors";
import { expect, it } from "vitest";
import { fileOrigin } from "../../lib/base/diagnostic.ts";
import { harmless, oneLine, printDiagnostic, printDiagnostics, withoutCommands } from "../../lib/cli/terminal.ts";
import { error } from "../../lib/config/finding.ts";

it("lets colours and lines through to a terminal, and nothing else that it would obey", () => {
  const coloured = "\u001b[31merror\u001b[39m a\n\tb: größer";
  expect(harmless(coloured)).toBe(coloured);
  expect(harmless("no such\u001b[2J \u001b]0;title\u0007 \r\b \u009b1A")).toBe("no such�[2J �]0;title� �� �1A");
  expect(harmless("reviews\u202egpj.exe\u2066")).toBe("reviews�gpj.exe�");
});

it("leaves no line that GitHub Actions would take for a command, and nothing else changed", () => {
  const commands = "::add-mask::x\n \u00a0::error file=a::b\n\t::stop-commands::t";
  expect(withoutCommands(commands, "out")).toBe(
    "\ufffd::add-mask::x\n \u00a0\ufffd::error file=a::b\n\t\ufffd::stop-commands::t",
  );
  const plain = "::1\n::ffff:10.0.0.1 a\na ::error::b\noutbound|80||a::b";
  expect(withoutCommands(plain, "out")).toBe(plain);
});

it("leaves no command of other systems on standard error, where they may stand anywhere in a line", () => {
  const commands = "a ##[add-mask]x ##vso[task.setvariable]y\n##teamcity[message] # ## [x] a##";
  expect(withoutCommands(commands, "err")).toBe(
    "a ##\ufffd[add-mask]x ##\ufffdvso[task.setvariable]y\n##\ufffdteamcity[message] # ## [x] a##",
  );
  expect(withoutCommands('{"a": "##[x]"}', "out")).toBe('{"a": "##[x]"}');
});

it("prints a diagnostic as a line and its hint as another, whatever its object, its file and its fields are called", () => {
  const lines: string[] = [];
  const tell = (line: string) => lines.push(line);
  const colours = picocolors.createColors(false);
  const key = { group: "networking.istio.io", kind: "VirtualService", name: "a\n::error::b", namespace: "x\ry" };
  const finding = error(["spec", "htp\n::warning::c"], "no such field \u2028::d", "remove it\n::e");
  printDiagnostic({ out: tell, err: tell, colours }, { ...finding, origin: { key, file: "f\n::g.yaml", line: 3 } });
  expect(lines.filter((line) => oneLine(line) !== line)).toEqual([]);
  expect(lines).toHaveLength(2);
});

it("prints one line for all objects of one unknown kind, with their number", () => {
  const lines: string[] = [];
  const terminal = { out: () => {}, err: (line: string) => lines.push(line), colours: picocolors.createColors(false) };
  const unknown = (kind: string, line: number) =>
    ({
      code: "unknown-kind",
      severity: "warning",
      origin: fileOrigin("a.yaml", line),
      path: ["kind"],
      message: `${kind} is unknown`,
      hint: "",
    }) as const;
  printDiagnostics(terminal, [unknown("A", 1), unknown("B", 2), unknown("A", 3), unknown("A", 4)]);
  expect(lines).toEqual([
    "warning a.yaml:1: kind: A is unknown; there are 3 such objects, of which this is the first [unknown-kind]",
    "warning a.yaml:2: kind: B is unknown [unknown-kind]",
  ]);
});
