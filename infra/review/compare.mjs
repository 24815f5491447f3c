/** Writes what a pull request changes in the proxies to a file and to the job's summary: a step of action.yml. */
import { spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { appendFileSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const { DIR = ".", BASE = "", RUNNER_TEMP = ".", GITHUB_OUTPUT, GITHUB_STEP_SUMMARY } = process.env;
if (BASE === "") throw new Error("there is no base to compare with: run on pull_request, or say one with `base`");

const portolan = fileURLToPath(new URL("../../functions/portolan.mjs", import.meta.url));
const options = ["diff", `--dir=${DIR}`, `--base=${BASE}`, "--markdown"];
// What is printed quotes names of objects and files of the pull request. GitHub takes no line of it for a command until the token comes.
const token = randomUUID();
writeSync(2, `::stop-commands::${token}\n`);
const { status, stdout } = spawnSync(process.execPath, [portolan, ...options], {
  encoding: "utf8",
  stdio: ["ignore", "pipe", "inherit"],
  maxBuffer: 64 * 1024 * 1024,
});
writeSync(2, `\n::${token}::\n`);
// 1 with a comparison: something is refused. 1 without one, and all else: there was nothing to compare.
if (stdout === "" || (status !== 0 && status !== 1)) process.exit(status || 1);

const markdown = join(RUNNER_TEMP, "portolan-diff.md");
writeFileSync(markdown, stdout);
if (GITHUB_STEP_SUMMARY !== undefined) appendFileSync(GITHUB_STEP_SUMMARY, stdout);
if (GITHUB_OUTPUT !== undefined) appendFileSync(GITHUB_OUTPUT, `markdown=${markdown}\nrefused=${status === 1}\n`);
