import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { Row } from "./report.ts";

/** What runs the benchmarks, in every checkout. */
export const program = "test/bench/run.ts";

/** What `--json` prints of a benchmark, as far as it is read here: rows by title. */
export type Tables = Readonly<Record<string, readonly Row[]>>;

/** Runs a benchmark in a checkout. */
export async function measured(checkout: string, command: readonly string[]): Promise<Tables> {
  const args = [program, ...command, "--json"];
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: checkout, maxBuffer: 2 ** 26 });
  const printed: { readonly tables: Tables } = JSON.parse(stdout);
  return printed.tables;
}
