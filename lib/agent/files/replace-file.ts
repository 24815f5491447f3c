import { randomUUID } from "node:crypto";
import { rename, rm, writeFile } from "node:fs/promises";

/** Ending of files that are being written; what a killed agent left of them is cleared away at its next start. */
export const draftEnding = ".draft";

/** Writes a file beside its place; nobody reads it there. */
export async function writeDraft(path: string, text: string, mode = 0o644): Promise<string> {
  const draft = `${path}.${randomUUID().slice(0, 8)}${draftEnding}`;
  try {
    await writeFile(draft, text, { mode, flag: "wx" });
    return draft;
  } catch (cause) {
    await rm(draft, { force: true }).catch(() => {});
    throw cause;
  }
}

/** Puts complete content in the place of a file, by a rename: whoever reads it has the old one or the new one. */
export async function replaceFile(path: string, text: string, mode = 0o644): Promise<void> {
  await rename(await writeDraft(path, text, mode), path);
}
