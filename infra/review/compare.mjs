/** Writes what a pull request changes in the proxies to a file and to the job's summary: a step of action.yml. */
import { appendFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runPortolan } from "./run-portolan.mjs";

const { DIR = ".", BASE = "", RUNNER_TEMP = ".", GITHUB_OUTPUT, GITHUB_STEP_SUMMARY } = process.env;
if (BASE === "") throw new Error("there is no base to compare with: run on pull_request, or say one with `base`");

const { status, stdout } = runPortolan(["diff", `--dir=${DIR}`, `--base=${BASE}`, "--markdown"]);
// 1 with a comparison: something is refused. 1 without one, and all else: there was nothing to compare.
if (stdout === "" || (status !== 0 && status !== 1)) process.exit(status || 1);

const markdown = join(RUNNER_TEMP, "portolan-diff.md");
writeFileSync(markdown, stdout);
if (GITHUB_STEP_SUMMARY !== undefined) appendFileSync(GITHUB_STEP_SUMMARY, stdout);
if (GITHUB_OUTPUT !== undefined) appendFileSync(GITHUB_OUTPUT, `markdown=${markdown}\nrefused=${status === 1}\n`);
