import picocolors from "picocolors";
import { runCli } from "../../lib/cli/program.ts";

/** Runs a command line in this process. @returns its exit code and what it wrote */
export async function runPortolan(...args: readonly string[]) {
  const out: string[] = [];
  const err: string[] = [];
  const terminal = {
    out: (line: string) => void out.push(line),
    err: (line: string) => void err.push(line),
    colours: picocolors.createColors(false),
  };
  const code = await runCli(["node", "portolan", ...args], terminal);
  return { code, out: out.join("\n"), err: err.join("\n") };
}
