import { setTimeout } from "node:timers/promises";
import type { SourceFile } from "./directory.ts";
import { readFolder } from "./folder.ts";
import { errorsIn, isUnreadable, refusedKeys } from "./folder-state.ts";
import { keysLost } from "./kept-forms.ts";
import { folderOf, readAlone } from "./last-valid.ts";
import { createMayHold } from "./may-hold.ts";

/** So long an object that is gone may be on its way into another file. */
const moveMs = 500;

/**
 * Reads a folder time after time. Where objects are gone it is read once more a moment later, and what it holds then counts:
 * what was cut from one file is saved in another one next, and tools write many files one after another.
 *
 * @param pause lets this moment pass
 */
export function createFolderReader(
  folder: string,
  pause: () => Promise<unknown> = () => setTimeout(moveMs),
): () => Promise<readonly SourceFile[]> {
  let last: readonly SourceFile[] = [];
  return async () => {
    let files = await readFolder(folder);
    if (haveGone(last, files)) {
      await pause();
      files = await readFolder(folder);
    }
    last = files;
    return files;
  };
}

/** Whether objects are gone: from a file that is gone, or is shorter. What is refused or may stand where nobody can read it is not, and need not be waited for. */
function haveGone(last: readonly SourceFile[], now: readonly SourceFile[]): boolean {
  const texts = new Map(now.map(({ file, text }) => [file, text]));
  const gone = last.filter(({ file, text }) => (texts.get(file)?.length ?? 0) < text.length);
  if (gone.length === 0) return false;
  const before = new Map(last.map(({ file, text }) => [file, text]));
  const changed = folderOf({ files: now.filter(({ file, text }) => before.get(file) !== text), kept: [] }).files();
  const came = Array.from(changed.values(), ({ read }) => read());
  const refused = new Set(came.flatMap(errorsIn).flatMap(refusedKeys));
  const mayHold = createMayHold(changed);
  const isHeld = (key: string): boolean =>
    refused.has(key) || [...changed.keys()].some((file) => mayHold(file, { key, file: "" }));
  const readable = gone.filter(({ file }) => {
    const state = changed.get(file);
    return state === undefined || !isUnreadable(state);
  });
  return keysLost(readable.map(readAlone), came).some((key) => !isHeld(key));
}
