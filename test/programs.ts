import { symlinkSync } from "node:fs";
import { join, resolve } from "node:path";
import { oncePerRun } from "./once-per-run.ts";

const root = resolve(import.meta.dirname, "..");

/** Programs that tests start: `portolan`, and what only a clone starts by itself. */
const programs = {
  cli: "functions/cli.ts",
  server: "functions/server.node.ts",
  agent: "functions/agent.node.ts",
} as const;

/** Fills a folder as the package does where it is installed: nothing above it may be a clone, whose sources would be taken. */
export async function installPrograms(folder: string): Promise<void> {
  // Loaded where it is needed: samples and benchmarks run sources.
  const { bundlePrograms, packaged } = await import("../scripts/programs.ts");
  await bundlePrograms({ ...packaged, ...programs }, join(folder, "dist/package"), false);
  for (const beside of ["node_modules", "samples", "package.json"])
    symlinkSync(join(root, beside), join(folder, beside));
}

/**
 * In a run of the tests a program as the package has it, bundled once: it starts with half the CPU that its source takes. Elsewhere its
 * source, which `test/cli/start.process.test.ts` starts in the tests.
 *
 * @returns the path of what Node is to run
 */
export async function program(name: keyof typeof programs): Promise<string> {
  if (process.env.TEST_BUILDS === undefined) return join(root, programs[name]);
  return join(await oncePerRun("installed", installPrograms), `dist/package/${name}.js`);
}
