import { execFileSync } from "node:child_process";
import { outside } from "./conformance/suites.ts";
import { hasShared } from "./shared.ts";

/**
 * Fails at once, with the remedy, where the tests run under a Node that the tool chain does not support; says what is not here to be
 * tested. Builds the console, which takes a second, so that it is the one of these sources.
 */
export function setup(): void {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  if (major < 22 || (major === 22 && minor < 22)) {
    throw new Error(`tests need Node 22.22 or newer and run under ${process.version}; start them with \`npm test\``);
  }
  execFileSync(process.execPath, [new URL("../scripts/console.mjs", import.meta.url).pathname], { stdio: "inherit" });
  if (!hasShared)
    console.log(`skipped, since they lie in ../shared, which is not there: ${Object.values(outside).join("; ")}`);
}
