// Bundles the Lambda functions, each into a folder of its own: what is loaded at once, and beside it what is loaded when it is needed
// (ways to find credentials, KMS).

import { rm } from "node:fs/promises";
import { join } from "node:path";
import { build } from "esbuild";

const root = new URL("..", import.meta.url).pathname;

/** Parts of the AWS SDK are CommonJS and call `require`. */
const banner = "import{createRequire}from'node:module';const require=createRequire(import.meta.url);";

/**
 * @param {string} outdir
 * @returns {Promise<{ front: string, compile: string }>} the folders
 */
export async function buildFunctions(outdir) {
  /** @param {string} name */
  const bundle = async (name) => {
    const folder = join(outdir, name);
    // Pieces of an earlier build have other names.
    await rm(folder, { recursive: true, force: true });
    await build({
      entryPoints: { index: join(root, "functions", `${name}.lambda.ts`) },
      outdir: folder,
      outExtension: { ".js": ".mjs" },
      splitting: true,
      bundle: true,
      minify: true,
      platform: "node",
      format: "esm",
      target: "node22",
      mainFields: ["module", "main"],
      banner: { js: banner },
      logLevel: "error",
    });
    return folder;
  };
  return { front: await bundle("front"), compile: await bundle("compile") };
}
