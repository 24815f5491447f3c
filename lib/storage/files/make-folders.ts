import { mkdir, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { codeOf, isFileAbsent } from "../../base/cause-text.ts";

/**
 * Makes a folder with all above it. `mkdir` of Node does that too, and never ends where a file system has no place for a name in a folder that
 * is there, as /proc has none.
 *
 * @returns the first that was made; undefined where all were there
 */
export async function makeFolders(path: string): Promise<string | undefined> {
  try {
    return await makeIn(path);
  } catch (cause) {
    if (!isFileAbsent(cause) || dirname(path) === path) throw cause;
    const above = await makeFolders(dirname(path));
    const made = await makeIn(path);
    return above ?? made;
  }
}

async function makeIn(path: string): Promise<string | undefined> {
  try {
    await mkdir(path);
    return path;
  } catch (cause) {
    if (codeOf(cause) !== "EEXIST" || !(await stat(path)).isDirectory()) throw cause;
    return undefined;
  }
}
