import { join } from "node:path";
import { buildFunctions } from "../../infra/build.mjs";
import { oncePerRun } from "../once-per-run.ts";

/** The folders of the functions as they are deployed, made once for all test files of a run: bundling takes seven seconds of CPU. */
export async function lambdaFunctions(): ReturnType<typeof buildFunctions> {
  const folder = await oncePerRun("functions", async (draft) => {
    await buildFunctions(draft);
  });
  const [front = "", compile = "", slice = "", garbage = ""] = ["front", "compile", "slice", "garbage"].map((name) =>
    join(folder, name),
  );
  return { front, compile, slice, garbage };
}
