/** Fills a source with the folder as it is in the commit that is checked out, through the compile function: a step of action.yml. */
import { execFileSync } from "node:child_process";
import { appendFileSync } from "node:fs";
import { runPortolan } from "./run-portolan.mjs";

const { DIR = ".", SERVER = "", SOURCE = "main", FAIL_ON_REFUSED, GITHUB_SHA = "", GITHUB_STEP_SUMMARY } = process.env;
const options = [`--url=${SERVER}`, `--source=${SOURCE}`, `--why=${reason()}`];
const { status, stdout } = runPortolan(["push", ...options, "--", DIR]);
process.stdout.write(stdout);
// 1 with an outcome: it is published, and objects of the folder are refused. 1 without one, and all else: nothing was pushed.
if (stdout === "") process.exit(status || 1);
if (GITHUB_STEP_SUMMARY !== undefined) appendFileSync(GITHUB_STEP_SUMMARY, `Source ${SOURCE}: ${stdout}`);
if (status !== 0 && FAIL_ON_REFUSED !== "false") process.exit(status);

/** For the history, which has room for 2,048 bytes. */
function reason() {
  try {
    const line = execFileSync("git", ["-C", DIR, "log", "-1", "--format=commit %H by %an: %s"], { encoding: "utf8" });
    return line.trim().slice(0, 600);
  } catch {
    return `commit ${GITHUB_SHA}`;
  }
}
