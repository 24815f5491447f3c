// Starts a TypeScript file of this folder, or says what to do where this Node is too old for it. Plain JavaScript, since
// an old Node has to read it.

import { existsSync, readFileSync } from "node:fs";

/**
 * @param {string} entry name of the file
 */
export async function start(entry) {
  const problem = problemOf(process.versions.node, engine());
  if (problem === undefined) {
    await import(new URL(entry, import.meta.url).href);
    return;
  }
  console.error(`portolan: ${problem}\n  ${remedy()}`);
  process.exitCode = 1;
}

/** The oldest version that package.json asks for. */
function engine() {
  return JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")).engines.node.replace(">=", "");
}

/**
 * @param {string} given
 * @param {string} wanted
 */
function problemOf(given, wanted) {
  const [major, minor] = given.split(".").map(Number);
  const [wantedMajor, wantedMinor] = wanted.split(".").map(Number);
  if (major < wantedMajor || (major === wantedMajor && minor < wantedMinor)) {
    return `needs Node ${wanted} or newer; this is Node ${given}`;
  }
  return process.features.typescript ? undefined : `Node ${given} does not run TypeScript here; was it told not to?`;
}

function remedy() {
  return existsSync(new URL("../node_modules/.bin/node", import.meta.url))
    ? "`npm ci` has brought a newer one along: `npm start`, `npx portolan` and `npm run serve` use it"
    : "`npm ci` brings one along for Linux, macOS and Windows; elsewhere install it from https://nodejs.org";
}
