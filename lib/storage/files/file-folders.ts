import { opendir, readdir, rmdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { codeOf } from "../../base/cause-text.ts";
import { byCodePoint } from "../../base/diagnostic.ts";
import { inParallel } from "../in-parallel.ts";
import { absentAs, noObjectAs } from "./file-errors.ts";

/** The folders of one in which objects lie, by name. One that everything was deleted from stays on the disk, and is none. */
export async function foldersWithObjects(path: string): Promise<readonly string[]> {
  const entries = await readdir(path, { withFileTypes: true }).catch(noObjectAs([]));
  const names = entries.filter((entry) => entry.isDirectory() && isShown(entry.name)).map(({ name }) => name);
  const hold = await inParallel(names, (name) => holdsObjects(join(path, name)));
  return names.filter((_, at) => hold[at] === true).sort(byCodePoint);
}

/** What lies in a folder of objects besides: folders of versions, and what is about to become an object. */
export const isShown = (name: string): boolean => !name.startsWith(".") && !name.endsWith("#");

/** Looks until the first: thousands may lie there. */
async function holdsObjects(path: string): Promise<boolean> {
  const folder = await opendir(path).catch(absentAs(undefined));
  if (folder === undefined) return false;
  const below: string[] = [];
  for await (const entry of folder) {
    if (!isShown(entry.name)) continue;
    if (!entry.isDirectory()) return true;
    below.push(entry.name);
  }
  for (const name of below) if (await holdsObjects(join(path, name))) return true;
  return false;
}

export const isFolder = async (path: string): Promise<boolean> =>
  (await stat(path).catch(noObjectAs(undefined)))?.isDirectory() === true;

/** Takes away a folder that everything was deleted from, with the empty ones in it. */
export async function removeEmpty(path: string): Promise<void> {
  const entries = await readdir(path, { withFileTypes: true }).catch(noObjectAs([]));
  for (const entry of entries) if (entry.isDirectory()) await removeEmpty(join(path, entry.name));
  await rmdir(path).catch((cause: unknown) => {
    if (codeOf(cause) !== "ENOTEMPTY" && codeOf(cause) !== "EEXIST") return noObjectAs(undefined)(cause);
  });
}
