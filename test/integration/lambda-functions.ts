import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buildFunctions } from "../../infra/build.mjs";

let built: ReturnType<typeof buildFunctions> | undefined;

/** The folders of the functions as they are deployed, made once for all test files of a worker: bundling takes seven seconds of CPU. */
export function lambdaFunctions(): ReturnType<typeof buildFunctions> {
  if (built === undefined) {
    const folder = mkdtempSync(join(process.env.TEST_BUILDS ?? tmpdir(), "functions-"));
    // A worker of the tests may be killed at its end: the run removes what lies in its own folder.
    process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
    built = buildFunctions(folder);
  }
  return built;
}
