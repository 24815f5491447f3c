/** Runs a command of Portolan in a job of GitHub's: for the steps of action.yml. */
import { spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { writeSync } from "node:fs";
import { fileURLToPath } from "node:url";

const portolan = fileURLToPath(new URL("../../functions/portolan.mjs", import.meta.url));

/**
 * What is printed quotes names of objects and files of the repository. GitHub takes no line of it for a command until the token comes.
 *
 * @param {readonly string[]} options
 * @returns exit code and standard output; errors go to the job's log
 */
export function runPortolan(options) {
  const token = randomUUID();
  writeSync(2, `::stop-commands::${token}\n`);
  const { status, stdout } = spawnSync(process.execPath, [portolan, ...options], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
    maxBuffer: 64 * 1024 * 1024,
  });
  writeSync(2, `\n::${token}::\n`);
  return { status: status ?? 1, stdout };
}
