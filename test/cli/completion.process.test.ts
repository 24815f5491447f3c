import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import picocolors from "picocolors";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runCli } from "../../lib/cli/program.ts";
import { lacks } from "../skip.ts";

const shells = ["bash", "zsh", "fish"] as const;
type Shell = (typeof shells)[number];

let folder = "";
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "portolan-completion-"));
  for (const shell of shells) {
    const lines: string[] = [];
    const terminal = {
      out: (line: string) => void lines.push(line),
      err: () => {},
      colours: picocolors.createColors(false),
    };
    await runCli(["node", "portolan", "completion", shell], terminal);
    writeFileSync(join(folder, shell), `${lines.join("\n")}\n`);
  }
});
afterAll(() => rmSync(folder, { recursive: true }));

const quoted = (words: readonly string[]): string => words.map((word) => `'${word}'`).join(" ");

/** What each shell runs, and what it prints: its candidates, line by line. */
const asked: Readonly<Record<Shell, (script: string, typed: readonly string[]) => readonly string[]>> = {
  bash: (script, typed) => [
    "-c",
    `. ${script}; COMP_WORDS=(portolan ${quoted(typed)}); COMP_CWORD=${typed.length}; _portolan; printf '%s\\n' "\${COMPREPLY[@]}"`,
  ],
  // Its completion system adds what it is given and begins with what is typed.
  zsh: (script, typed) => [
    "-fc",
    `compdef() { }; _files() { }; compadd() { shift; print -l -- "\${(@M)@:#\${words[CURRENT]}*}" }
     . ${script}; words=(portolan ${quoted(typed)}); CURRENT=${typed.length + 1}; _portolan; [ -n "$PATH" ] || print no PATH`,
  ],
  fish: (script, typed) => [
    "--no-config",
    "-c",
    `source ${script}; cd /proc/self/task; complete -C "portolan ${typed.join(" ")}"`,
  ],
};

function complete(shell: Shell, typed: readonly string[]): readonly string[] {
  const lines = execFileSync(shell, asked[shell](join(folder, shell), typed), { encoding: "utf8" }).split("\n");
  // Fish gives names of files, too, which end in no command's words.
  return lines.map((line) => line.split("\t")[0] ?? "").filter((line) => line !== "" && !/^\d+\/?$/.test(line));
}

const isThere = (shell: Shell): boolean => spawnSync(shell, ["--version"]).status === 0;

describe.each(shells)("the completion of a real %s", (shell) => {
  it.skipIf(lacks(isThere(shell), shell)).each([
    [["proxy-"], ["proxy-status", "proxy-config"]],
    [["tok"], ["token"]],
    [["token", "cr"], ["create"]],
    [
      ["trace", "--dir"],
      ["--direction", "--dir"],
    ],
    [
      ["trace", "--direction", ""],
      ["inbound", "outbound"],
    ],
    [["explain", "9080", "--shape", "p"], ["poll"]],
    [
      ["completion", ""],
      ["bash", "zsh", "fish", "--json", "--help"],
    ],
    [["nonsense", "--nothing"], []],
  ])("after %j offers %j", (typed, offered) => {
    expect([...complete(shell, typed)].sort()).toEqual([...offered].sort());
  });
});
