// Bundles the Lambda functions, the collector and the agent, each into a folder of its own: what is loaded at once, and beside it what is loaded when it is
// needed (ways to find credentials, KMS, the compiler).

import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { build } from "esbuild";
import { ownBuild } from "../lib/cli/own-build.ts";

const root = new URL("..", import.meta.url).pathname;

/** Parts of the AWS SDK are CommonJS and call `require`. */
const banner = "import{createRequire}from'node:module';const require=createRequire(import.meta.url);";

/**
 * @param {string} outdir
 * @returns {Promise<{ front: string, compile: string, slice: string, garbage: string }>} the folders
 */
export async function buildFunctions(outdir) {
  return {
    front: await bundle(outdir, "front", "front.lambda.ts"),
    compile: await bundle(outdir, "compile", "compile.lambda.ts"),
    slice: await bundle(outdir, "slice", "compile-slice.lambda.ts"),
    garbage: await bundle(outdir, "garbage", "collect-garbage.lambda.ts"),
  };
}

/**
 * @param {string} outdir
 * @returns {Promise<string>} the folder, whose `index.mjs` takes the arguments of `portolan`
 */
export const buildCollector = (outdir) => bundle(outdir, "collect", "collect.node.ts");

/**
 * How Node runs the agent, so that it stays small: code that is compiled for speed takes more memory than the agent has data, and what it
 * does once a change is no faster by it.
 */
export const agentFlags = ["--no-opt", "--no-maglev", "--max-semi-space-size=1"];

/**
 * The agent by itself, and the commands that a pod runs before it.
 *
 * @param {string} outdir
 * @returns {Promise<string>} the folder, with `agent/index.mjs` and `commands/index.mjs`, which take the arguments of `portolan`; `node-flags` holds `agentFlags`
 */
export async function buildAgent(outdir) {
  const folder = join(outdir, "agent");
  await rm(folder, { recursive: true, force: true });
  await bundle(folder, "agent", "agent.node.ts");
  await bundle(folder, "commands", "agent-commands.node.ts");
  await writeFile(join(folder, "node-flags"), `${agentFlags.join(" ")}\n`);
  return folder;
}

/**
 * @param {string} outdir
 * @param {string} name
 * @param {string} entry
 */
async function bundle(outdir, name, entry) {
  const folder = join(outdir, name);
  // Pieces of an earlier build have other names.
  await rm(folder, { recursive: true, force: true });
  await build({
    entryPoints: { index: join(root, "functions", entry) },
    outdir: folder,
    outExtension: { ".js": ".mjs" },
    splitting: true,
    bundle: true,
    minify: true,
    platform: "node",
    format: "esm",
    target: "node22",
    mainFields: ["module", "main"],
    define: { portolanBuild: JSON.stringify(await ownBuild()) },
    banner: { js: banner },
    logLevel: "error",
  });
  return folder;
}
