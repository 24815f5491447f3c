import { execFileSync } from "node:child_process";
import picocolors from "picocolors";
import { beforeAll, describe, expect, it } from "vitest";
import { runCli } from "../../lib/cli/program.ts";

let script = "";
const complete = (...typed: readonly string[]): readonly string[] => {
  const words = typed.map((word) => `'${word}'`).join(" ");
  const asked = `${script}\nCOMP_WORDS=(portolan ${words}); COMP_CWORD=${typed.length}; _portolan; printf '%s\\n' "\${COMPREPLY[@]}"`;
  return execFileSync("bash", ["-c", asked], { encoding: "utf8" })
    .trim()
    .split("\n")
    .filter((line) => line !== "");
};

beforeAll(async () => {
  const lines: string[] = [];
  const terminal = {
    out: (line: string) => void lines.push(line),
    err: () => {},
    colours: picocolors.createColors(false),
  };
  await runCli(["node", "portolan", "completion", "bash"], terminal);
  script = lines.join("\n");
});

describe("the completion of a real bash", () => {
  it.each([
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
    expect([...complete(...typed)].sort()).toEqual([...offered].sort());
  });
});
