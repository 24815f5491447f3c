import { opendir, readdir } from "node:fs/promises";
import { join } from "node:path";
import { byCodePoint } from "../config/diagnostic.ts";
import { absentAs } from "./file-errors.ts";
import { inParallel } from "./in-parallel.ts";

/** The folders of one in which objects lie, by name. One that everything was deleted from stays on the disk, and is none. */
export async function foldersWithObjects(path: string): Promise<readonly string[]> {
  const entries = await readdir(path, { withFileTypes: true }).catch(absentAs([]));
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
