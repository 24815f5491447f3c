import { type Dirent, type Stats, statSync } from "node:fs";
import { lstat, readdir, readFile, realpath, stat } from "node:fs/promises";
import { isAbsolute, join, relative, sep } from "node:path";
import { type FSWatcher, watch } from "chokidar";
import { codeOf, isFileAbsent } from "../../base/cause-text.ts";
import { byCodePoint, PortolanError } from "../../base/diagnostic.ts";
import type { SourceFile } from "./directory.ts";
import { decodeText } from "./files/decode-text.ts";
import { isConfigFile, isPassedOver } from "./folder-names.ts";

/** Editors write a file in steps: what has not changed for this long is taken as written. */
const settleMs = 10;

/**
 * The YAML and JSON files of a folder, in the order of their paths; hidden ones are left out, as what lies in a `node_modules` below it
 * is, and links to folders are not followed. A link to a file outside of the folder is not read either: whoever may add a file to the folder
 * could have any file of this machine stored by it. A file that vanishes or changes while it is read is read again; one that cannot be read
 * says why, and so does a folder below: it costs itself only.
 *
 * @throws PortolanError when there is no such folder
 */
export async function readFolder(root: string): Promise<readonly SourceFile[]> {
  const [found, realRoot] = await Promise.all([entriesBelow(root, ""), realpath(root)]).catch((cause: unknown) => {
    const next = codeOf(cause) === "ENOENT" ? "; name one that exists, such as samples/bookshop" : "";
    throw new PortolanError(`cannot read the folder ${root}: ${reasonOf(cause)}${next}`, [], cause);
  });
  const read = await Promise.all(
    found.map((entry) =>
      "text" in entry
        ? entry
        : readEntry(root, realRoot, entry).catch((cause: unknown) => unreadable(entry.file, reasonOf(cause))),
    ),
  );
  return read.filter((file) => file !== undefined).sort((a, b) => byCodePoint(a.file, b.file));
}

/** A file that was found and is not read yet. */
interface Entry {
  /** Path below the root, with `/`. */
  readonly file: string;
  readonly isLink: boolean;
}

/** The files below a folder, and the folders that cannot be read. @throws when this folder itself cannot be */
async function entriesBelow(root: string, folder: string): Promise<readonly (Entry | SourceFile)[]> {
  const entries = await readdir(join(root, folder), { withFileTypes: true });
  const below = await Promise.all(
    entries
      .filter(({ name }) => !isPassedOver(name))
      .map(async (entry: Dirent): Promise<readonly (Entry | SourceFile)[]> => {
        const path = folder === "" ? entry.name : `${folder}/${entry.name}`;
        if (!entry.isDirectory())
          return isConfigFile(entry.name) ? [{ file: path, isLink: entry.isSymbolicLink() }] : [];
        return entriesBelow(root, path).catch((cause: unknown) => [unreadable(`${path}/`, reasonOf(cause))]);
      }),
  );
  return below.flat();
}

const unreadable = (file: string, problem: string): SourceFile => ({ file, text: "", problem });

/** @param realRoot the root without links on its way */
async function readEntry(root: string, realRoot: string, { file, isLink }: Entry): Promise<SourceFile | undefined> {
  const path = join(root, file);
  if (!isLink) return readSettled(file, path);
  for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
    const target = await realpath(path).catch(absentAsUndefined);
    if (target === undefined) return linkWithoutTarget(file, path);
    const below = relative(realRoot, target);
    if (isAbsolute(below) || below.split(sep)[0] === "..")
      return unreadable(file, "it is a link to a file outside of the folder: put a copy of that file in its place");
    // Read by its own name, so that a link that is exchanged meanwhile leads nowhere else.
    const read = await readSettled(file, target);
    if (read !== undefined) return read;
  }
  return unreadable(file, tooFast);
}

/** @returns undefined where the link has vanished too */
async function linkWithoutTarget(file: string, path: string): Promise<SourceFile | undefined> {
  if (!(await isThere(path))) return undefined;
  const isCircle = await stat(path).then(
    () => false,
    (cause: unknown) => codeOf(cause) === "ELOOP",
  );
  return unreadable(file, isCircle ? "it is a link to itself" : linkToNothing);
}

const maxAttempts = 50;
const tooFast = "it changes faster than it can be read";
const linkToNothing = "it is a link to nothing";

/** @returns undefined for one that has vanished @throws the system's error where it cannot be looked at */
async function readSettled(file: string, path: string): Promise<SourceFile | undefined> {
  let problem = tooFast;
  for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
    const before = await stampOf(path);
    if (before === undefined) return (await isThere(path)) ? unreadable(file, linkToNothing) : undefined;
    if ("problem" in before) return unreadable(file, before.problem);
    // Reading a pipe would wait for somebody to write.
    if (!before.isFile) return unreadable(file, "it is no file, but a pipe, a socket, a device or a folder");
    if (Date.now() - before.modifiedMs < settleMs) await new Promise((resolve) => setTimeout(resolve, settleMs));
    const read = await readFile(path).then(decodeText, (cause: unknown) => ({ problem: reasonOf(cause) }));
    const after = await stampOf(path);
    const isSame = after !== undefined && !("problem" in after) && isSameStamp(after, before);
    if (!isSame) continue;
    if ("text" in read) return { file, text: read.text };
    ({ problem } = read);
    break;
  }
  return unreadable(file, problem);
}

interface Stamp {
  readonly modifiedMs: number;
  readonly size: number;
  readonly isFile: boolean;
}

const isSameStamp = (a: Stamp, b: Stamp): boolean => a.modifiedMs === b.modifiedMs && a.size === b.size;

/** @returns undefined for what is not there; a disk or a server that fails has not said that, and what a file held stays then */
async function stampOf(path: string): Promise<Stamp | { readonly problem: string } | undefined> {
  try {
    const found = await stat(path);
    return { modifiedMs: found.mtimeMs, size: found.size, isFile: found.isFile() };
  } catch (cause) {
    return isAbsence(cause) ? undefined : { problem: reasonOf(cause) };
  }
}

/** Whether there is anything of the name, be it a link that leads nowhere. */
const isThere = async (path: string): Promise<boolean> => (await lstat(path).catch(absentAsUndefined)) !== undefined;

/** Whether a link leads to a folder, or round in a circle, which would end the watch. */
function leadsAstray(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch (cause) {
    // What it leads to may come to be there.
    return !isFileAbsent(cause);
  }
}

/** Nothing is at a path, or a link to nothing or to itself. Any other failure says nothing of that, and is thrown. */
function absentAsUndefined(cause: unknown): undefined {
  if (isAbsence(cause)) return undefined;
  throw cause;
}

function isAbsence(cause: unknown): boolean {
  const code = codeOf(cause);
  return code === "ENOENT" || code === "ENOTDIR" || code === "ELOOP";
}

/** What went wrong, without the path: whoever tells it names the file. */
function reasonOf(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause);
  const code = codeOf(cause);
  if (code === "EACCES" || code === "EPERM") return "permission denied";
  if (code === "ENOENT") return "there is none";
  if (code === "ENOTDIR") return "it is a file; name the folder that it is in";
  if (code === "ELOOP") return "it is a link to itself";
  // Node's own words end with the call and the path, which the message names already.
  const call = "syscall" in cause ? cause.message.lastIndexOf(`, ${String(cause.syscall)} '`) : -1;
  return call < 0 ? cause.message : cause.message.slice(0, call);
}

/** How often to look at every file where the system cannot call back: its watches may be used up. */
const lookMs = 500;

/**
 * Calls back when a YAML or JSON file below the folder has come, changed or gone. Where the system has no watch left to give, from the
 * beginning or after a while, the files are looked at instead.
 *
 * @returns ends the watch
 */
export async function watchFolder(root: string, onChange: () => void): Promise<() => Promise<void>> {
  const ignored = (path: string, stats?: Stats) => {
    const below = relative(root, path);
    if (below.split(sep).some((part) => isPassedOver(part) && part !== "." && part !== "..")) return true;
    // A link may lead to a whole file system, of which nothing is read. The root itself may be one.
    if (below !== "" && stats?.isSymbolicLink() === true) return !isConfigFile(path) || leadsAstray(path);
    return stats?.isFile() === true && !isConfigFile(path);
  };
  function follow(usePolling: boolean): Promise<FSWatcher> {
    // What may not be read is told by whoever reads the folder.
    const options = { ignoreInitial: true, ignorePermissionErrors: true, ignored, usePolling, interval: lookMs };
    const watcher = watch(root, options);
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
