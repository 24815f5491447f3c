/** Bundles what is started and what is imported: for the package (scripts/package.mjs), and for tests, which start programs often. */

import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { build } from "esbuild";
import { ownBuild } from "../lib/cli/own-build.ts";

const root = resolve(import.meta.dirname, "..");

/** Of the package: what is started, and what is imported. */
export const packaged = {
  cli: "functions/cli.ts",
  "served-front": "functions/served-front.node.ts",
  "served-compile": "functions/served-compile.node.ts",
  "compile-slice": "functions/compile-slice.node.ts",
  "prewrite-blobs": "functions/prewrite-blobs.node.ts",
  portolan: "functions/portolan.library.ts",
  front: "functions/front.library.ts",
} as const;

/**
 * Writes files that share what they have in common, and import the packages that package.json names.
 *
 * @param entryPoints source of each, by name
 * @returns paths of the files, from the repository's root
 */
export async function bundlePrograms(
  entryPoints: Readonly<Record<string, string>>,
  outdir: string,
  sourcemap: boolean,
): Promise<readonly string[]> {
  const { dependencies, peerDependencies } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints,
    outdir,
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "node",
    target: "node22",
    external: Object.keys({ ...dependencies, ...peerDependencies }).flatMap((name) => [name, `${name}/*`]),
    define: { portolanBuild: JSON.stringify(await ownBuild()) },
    chunkNames: "parts/[name]-[hash]",
    sourcemap,
    metafile: true,
    logLevel: "error",
  });
  return Object.keys(metafile.outputs);
}
