import { readFile } from "node:fs/promises";
import { fileTrouble } from "../base/cause-text.ts";
import { PortolanError } from "../base/diagnostic.ts";
import { whereAbsent } from "./absent-file.ts";

/**
 * The text of a file that a person has named.
 *
 * @param name how messages call it; its path when absent
 * @throws PortolanError that says what is the matter with it, in words that are no system's
 */
export async function textOfFile(path: string, name = path): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (cause) {
    throw new PortolanError(`${name} cannot be read: ${fileTrouble(cause)}`, [], cause);
  }
}

/**
 * The text of a file that may be absent: undefined then.
 *
 * @param hint what to do about one that exists and cannot be read; "" for nothing
 * @throws PortolanError for any other failure than its absence, since a default in its place may be the wrong one
 */
export const textIfThere = (path: string, hint?: string): Promise<string | undefined> =>
  readFile(path, "utf8").catch(whereAbsent(path, undefined, hint));
