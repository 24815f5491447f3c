import { mkdir, readdir, rm, stat, utimes } from "node:fs/promises";
import { join } from "node:path";
import { draftEnding } from "./replace-file.ts";

/** How much a folder may hold; what was used last stays. */
export interface FolderBound {
  readonly maxBytes: number;
  readonly maxFiles: number;
}

/** Notes that a file is used. */
export const noteUse = async (path: string): Promise<void> => utimes(path, new Date(), new Date()).catch(() => {});

/** Deletes the files that were not used for longest, until the others are within the bound. Drafts of others are left alone. */
export async function keepWithin(folder: string, { maxBytes, maxFiles }: FolderBound): Promise<void> {
  const names = (await readdir(folder)).filter((name) => !name.endsWith(draftEnding));
  const files = await Promise.all(
    names.map(async (name) => {
      const path = join(folder, name);
      const { size, mtimeMs } = await stat(path);
      return { path, size, mtimeMs };
    }),
  );
  let bytes = 0;
  for (const [at, { path, size }] of files.toSorted((a, b) => b.mtimeMs - a.mtimeMs).entries()) {
    bytes += size;
    if (bytes > maxBytes || at >= maxFiles) await rm(path, { force: true });
  }
}

/** Makes a folder, without what a killed agent has not finished there. */
export async function openFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  for (const name of await readdir(folder))
    if (name.endsWith(draftEnding)) await rm(join(folder, name), { force: true });
}
