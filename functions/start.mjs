// Starts a program of this folder, or says what to do where this Node is too old for it. In the repository that is a TypeScript file, in the
// package what scripts/package.mjs has made of it. Plain JavaScript, since an old Node has to read it.

import { existsSync, readFileSync } from "node:fs";
import module from "node:module";
import { fileURLToPath } from "node:url";

/**
 * @param {string} entry name of the TypeScript file
 */
export async function start(entry) {
  const source = new URL(entry, import.meta.url);
  const compiled = new URL(`../dist/package/${entry.split(".", 1)[0]}.js`, import.meta.url);
  // A repository has both after `npm pack`; what lies there to be edited counts.
  const isSource = existsSync(source);
  const problem = problemOf(process.versions.node, engine(), isSource);
  if (problem === undefined) {
    // Types are stripped once and not at each start, which halves the time of a command in a clone. NODE_COMPILE_CACHE comes first.
    if (isSource) module.enableCompileCache(fileURLToPath(new URL("../.cache/compiled", import.meta.url)));
    await import((isSource ? source : compiled).href);
    return;
  }
  console.error(`portolan: ${problem}\n  ${isSource ? remedy() : "install one from https://nodejs.org"}`);
  process.exitCode = 1;
}

/** The oldest version that package.json asks for. */
function engine() {
  return JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")).engines.node.replace(">=", "");
}

/**
 * @param {string} given
 * @param {string} wanted
 * @param {boolean} isSource
 */
function problemOf(given, wanted, isSource) {
  const [major, minor] = given.split(".").map(Number);
  const [wantedMajor, wantedMinor] = wanted.split(".").map(Number);
  if (major < wantedMajor || (major === wantedMajor && minor < wantedMinor)) {
    return `needs Node ${wanted} or newer; this is Node ${given}`;
  }
  return process.features.typescript || !isSource
    ? undefined
    : `Node ${given} does not run TypeScript here; was it told not to?`;
}

function remedy() {
  return existsSync(new URL("../node_modules/.bin/node", import.meta.url))
    ? "`npm ci` has brought a newer one along: `npm start`, `npx portolan` and `npm run serve` use it"
    : "`npm ci` brings one along for Linux, macOS and Windows; elsewhere install it from https://nodejs.org";
}
