// Bundles the Lambda functions, each into a folder of its own.

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
    await build({
      entryPoints: [join(root, "functions", `${name}.lambda.ts`)],
      outfile: join(folder, "index.mjs"),
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
