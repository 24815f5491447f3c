import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { outside } from "./conformance/suites.ts";
import { hasShared } from "./shared.ts";

const compiled = new URL("../.cache/compiled", import.meta.url).pathname;
/** Three times what the modules of the code, of its tests and of packages take. */
const mostCompiled = 20_000;

/** Node never forgets compiled code, and each run loads its test files under new names. What has outgrown the code is begun anew. */
function boundCompiled(): void {
  if (!existsSync(compiled)) return;
  for (const release of readdirSync(compiled)) {
    const files = readdirSync(join(compiled, release));
    // The folder stays: another program may be writing to it.
    if (files.length > mostCompiled) for (const file of files) rmSync(join(compiled, release, file), { force: true });
  }
}

/**
 * Fails at once, with the remedy, where the tests run under a Node that the tool chain does not support; says what is not here to be
 * tested. Builds the console, which takes a second, so that it is the one of these sources.
 *
 * @returns what removes the folder for what test files build for one another
 */
export function setup(): () => void {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  if (major < 22 || (major === 22 && minor < 22)) {
    throw new Error(`tests need Node 22.22 or newer and run under ${process.version}; start them with \`npm test\``);
  }
  boundCompiled();
  execFileSync(process.execPath, [new URL("../scripts/console.mjs", import.meta.url).pathname], { stdio: "inherit" });
  if (!hasShared)
    console.log(`skipped, since they lie in ../shared, which is not there: ${Object.values(outside).join("; ")}`);
  const builds = mkdtempSync(join(tmpdir(), "portolan-builds-"));
  // Some tests run a program as another user.
  chmodSync(builds, 0o755);
  process.env.TEST_BUILDS = builds;
  return () => rmSync(builds, { recursive: true, force: true });
}
