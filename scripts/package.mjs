// Makes dist/package, what of the package is compiled: the programs and the library as JavaScript with source maps, and the library's types.
// Runs before `npm pack` and `npm publish` (prepack). Node strips no types under node_modules, and nobody who installs needs buf.

import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative, resolve } from "node:path";
import { bundlePrograms, packaged } from "./programs.ts";

const root = resolve(import.meta.dirname, "..");
const outdir = join(root, "dist/package");

async function writeCode() {
  const written = await bundlePrograms(packaged, outdir, true);
  const maps = written.filter((path) => path.endsWith(".map"));
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
    const next = [packaged.portolan, packaged.front].map((entry) => entry.replace(/\.ts$/, ".d.ts"));
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
