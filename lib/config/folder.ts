import type { Stats } from "node:fs";
import { readdir, readFile, stat } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import { type FSWatcher, watch } from "chokidar";
import { byCodePoint, PortolanError } from "./diagnostic.ts";
import type { SourceFile } from "./directory.ts";

/** Editors write a file in steps: what has not changed for this long is taken as written. */
const settleMs = 10;

/**
 * The YAML files of a folder, in the order of their paths; hidden ones are left out. A file that vanishes or changes while
 * it is read is read again.
 *
 * @throws PortolanError when there is no such folder
 */
export async function readFolder(root: string): Promise<readonly SourceFile[]> {
  const entries = await readdir(root, { recursive: true, withFileTypes: true }).catch((cause: unknown) => {
    throw new PortolanError(`cannot read the folder ${root}: ${reasonOf(cause)}`, [], cause);
  });
  const files = entries
    .filter((entry) => !entry.isDirectory() && isConfigFile(entry.name))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)).split(sep).join("/"))
    .filter((file) => !file.split("/").some((part) => part.startsWith(".")))
    .sort(byCodePoint);
  const read = await Promise.all(files.map((file) => readSettled(root, file)));
  return read.filter((file) => file !== undefined);
}

const isConfigFile = (name: string): boolean => /\.ya?ml$/.test(name);

async function readSettled(root: string, file: string): Promise<SourceFile | undefined> {
  const path = join(root, file);
  for (let attempt = 0; attempt < 50; attempt += 1) {
    const before = await stampOf(path);
    if (before === undefined) return undefined;
    if (Date.now() - before.modifiedMs < settleMs) await new Promise((resolve) => setTimeout(resolve, settleMs));
    const text = await readFile(path, "utf8").catch(() => undefined);
    const after = await stampOf(path);
    if (text !== undefined && after?.modifiedMs === before.modifiedMs && after.size === before.size)
      return { file, text };
  }
  return { file, text: await readFile(path, "utf8") };
}

async function stampOf(path: string): Promise<{ readonly modifiedMs: number; readonly size: number } | undefined> {
  const found = await stat(path).catch(() => undefined);
  return found === undefined ? undefined : { modifiedMs: found.mtimeMs, size: found.size };
}

const reasonOf = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause));

/** How often to look at every file where the system cannot call back: its watches may be used up. */
const lookMs = 500;

/**
 * Calls back when a YAML file below the folder has come, changed or gone. Where the system has no watch left to give, from the
 * beginning or after a while, the files are looked at instead.
 *
 * @returns ends the watch
 */
export async function watchFolder(root: string, onChange: () => void): Promise<() => Promise<void>> {
  const ignored = (path: string, stats?: Stats) => {
    const below = relative(root, path);
    if (below.split(sep).some((part) => part.startsWith(".") && part !== "." && part !== "..")) return true;
    return stats?.isFile() === true && !isConfigFile(path);
  };
  function follow(usePolling: boolean): Promise<FSWatcher> {
    const watcher = watch(root, { ignoreInitial: true, ignored, usePolling, interval: lookMs });
    watcher.on("all", onChange);
    let failed = false;
    return new Promise((resolve, reject) => {
      watcher.once("ready", () => resolve(watcher));
      watcher.on("error", (cause) => {
        if (usePolling) return reject(cause);
        // One watch that fails is as many as fail.
        if (failed) return;
        failed = true;
        following = watcher.close().then(() => follow(true));
        following.then(onChange, reject);
        resolve(following);
      });
    });
  }
  let following = follow(false);
  await following;
  return async () => (await following).close();
}
