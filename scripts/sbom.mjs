// Writes the bill of materials of what is published, CycloneDX in JSON: `npm run sbom [FILE]`, dist/sbom.json unless FILE is given.
// In it are the packages that an install of Portolan brings, and those that lie inside it: the console is bundled with its own.
//
// `npm sbom --omit dev` in this tree leaves out packages that we need and a tool of ours needs too (yaml, picocolors, …), and names the
// Node that `npm ci` brings. So npm gets to see a package without tools, and this tree's lock file without what only they needed.

import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { build } from "esbuild";

const root = resolve(import.meta.dirname, "..");
const target = resolve(process.argv[2] ?? join(root, "dist/sbom.json"));
const { name, version, description, license, dependencies, devDependencies } = JSON.parse(
  readFileSync(join(root, "package.json"), "utf8"),
);

/** What npm tells the programs that it starts would be taken for settings by the npm that they start. */
const env = Object.fromEntries(
  Object.entries(process.env).filter(([key]) => !/^npm_(?:package|lifecycle|config_local)|^INIT_CWD$/.test(key)),
);

/**
 * What the console's script has in it, as scripts/console.mjs bundles it.
 * @returns {Promise<ReadonlySet<string>>} names of packages
 */
async function insideTheConsole() {
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: ["lib/console/main.tsx"],
    bundle: true,
    write: false,
    metafile: true,
    format: "esm",
    target: "es2023",
    jsx: "automatic",
    jsxImportSource: "preact",
    tsconfigRaw: {},
    logLevel: "error",
  });
  const paths = Object.values(metafile.outputs).flatMap(({ inputs }) => Object.keys(inputs));
  const names = paths.map((path) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1]);
  return new Set(names.filter((found) => found !== undefined));
}

/**
 * @param {Readonly<Record<string, string>>} needed name → exact version
 * @returns what npm says of a package that needs no more than these
 */
function billOf(needed) {
  const scratch = mkdtempSync(join(tmpdir(), "portolan-sbom-"));
  // npm calls the package as its folder is called.
  const folder = join(scratch, name);
  const npm = (...args) =>
    execFileSync("npm", [...args, "--loglevel=error"], { cwd: folder, env, encoding: "utf8", maxBuffer: 50_000_000 });
  try {
    mkdirSync(folder);
    writeFileSync(
      join(folder, "package.json"),
      JSON.stringify({ name, version, description, license, dependencies: needed }),
    );
    copyFileSync(join(root, "package-lock.json"), join(folder, "package-lock.json"));
    npm("install", "--package-lock-only", "--offline", "--ignore-scripts", "--no-audit", "--no-fund");
    return JSON.parse(npm("sbom", "--sbom-format", "cyclonedx", "--package-lock-only"));
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

const inside = await insideTheConsole();
const bundled = Object.entries(devDependencies).filter(([dependency]) => inside.has(dependency));
const bill = billOf({ ...dependencies, ...Object.fromEntries(bundled) });
const components = bill.components.map((component) =>
  inside.has(component.name)
    ? { ...component, properties: [...component.properties, { name: "portolan:bundled", value: "console" }] }
    : component,
);
mkdirSync(dirname(target), { recursive: true });
writeFileSync(target, `${JSON.stringify({ ...bill, components }, null, 2)}\n`);
console.log(`${target}: ${components.length} packages, ${inside.size} of them bundled with the console`);
