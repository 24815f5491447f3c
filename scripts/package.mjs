// Makes dist/package, what of the package is compiled: the programs and the library as JavaScript with source maps, and the library's types.
// Runs before `npm pack` and `npm publish` (prepack). Node strips no types under node_modules, and nobody who installs needs buf.

import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative, resolve } from "node:path";
import { build } from "esbuild";
import { ownBuild } from "../lib/cli/own-build.ts";

const root = resolve(import.meta.dirname, "..");
const outdir = join(root, "dist/package");
const { dependencies, peerDependencies } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));

/** What is started, and what is imported; its files share what they have in common. */
const entries = {
  cli: "functions/cli.ts",
  "served-front": "functions/served-front.node.ts",
  "served-compile": "functions/served-compile.node.ts",
  "compile-slice": "functions/compile-slice.node.ts",
  "lay-blobs": "functions/lay-blobs.node.ts",
  portolan: "functions/portolan.library.ts",
  front: "functions/front.library.ts",
};

async function writeCode() {
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: entries,
    outdir,
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "node",
    target: "node22",
    external: Object.keys({ ...dependencies, ...peerDependencies }).flatMap((name) => [name, `${name}/*`]),
    define: { portolanBuild: JSON.stringify(await ownBuild()) },
    chunkNames: "parts/[name]-[hash]",
    sourcemap: true,
    metafile: true,
    logLevel: "error",
  });
  const maps = Object.keys(metafile.outputs).filter((path) => path.endsWith(".map"));
  for (const path of maps) withoutGenerated(join(root, path));
}

/** The text of generated code is four times that of ours, and no one reads it in a debugger. */
function withoutGenerated(path) {
  const map = JSON.parse(readFileSync(path, "utf8"));
  const sourcesContent = map.sourcesContent?.map((text, at) => (/(?:^|\/)gen\//.test(map.sources[at]) ? null : text));
  writeFileSync(path, JSON.stringify({ ...map, sourcesContent }));
}

/** Declarations of the library, and of what its own say; whoever reads them has no TypeScript beside them, so imports name the compiled files. */
function writeTypes() {
  const emitted = mkdtempSync(join(tmpdir(), "portolan-types-"));
  try {
    const tsc = join(root, "node_modules/.bin/tsc");
    execFileSync(tsc, ["-p", join(root, "tsconfig.package.json"), "--outDir", emitted], { stdio: "inherit" });
    const next = [entries.portolan, entries.front].map((entry) => entry.replace(/\.ts$/, ".d.ts"));
    const reached = new Set(next);
    // What is added is walked too.
    for (const file of reached) {
      const text = readFileSync(join(emitted, file), "utf8");
      for (const [, specifier = ""] of text.matchAll(/(?:from |import\()"(\.[^"]+)\.ts"/g)) {
        reached.add(relative(emitted, join(emitted, dirname(file), `${specifier}.d.ts`)));
      }
      const target = join(outdir, "types", file);
      mkdirSync(dirname(target), { recursive: true });
      writeFileSync(target, text.replaceAll(/((?:from |import\()"\.[^"]+)\.ts"/g, '$1.js"'));
    }
  } finally {
    rmSync(emitted, { recursive: true, force: true });
  }
}

for (const made of ["generate.mjs", "console.mjs"])
  execFileSync(process.execPath, [join(root, "scripts", made)], { stdio: "inherit" });
rmSync(outdir, { recursive: true, force: true });
await writeCode();
writeTypes();
