import { setTimeout } from "node:timers/promises";
import type { SourceFile } from "./directory.ts";
import { readFolder } from "./folder.ts";
import { holdErrors, keysLost } from "./kept-forms.ts";
import { readAlone } from "./last-valid.ts";

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

/** Whether objects are gone: from a file that is gone, or is shorter. What is refused or cannot be read is not, and need not be waited for. */
function haveGone(last: readonly SourceFile[], now: readonly SourceFile[]): boolean {
  const texts = new Map(now.map(({ file, text }) => [file, text]));
  const gone = last.filter(({ file, text }) => (texts.get(file)?.length ?? 0) < text.length);
  if (gone.length === 0) return false;
  const before = new Map(last.map(({ file, text }) => [file, text]));
  const changed = now.filter(({ file, text }) => before.get(file) !== text);
  const came = changed.map(readAlone);
  if (holdErrors(came) || changed.some(({ problem }) => problem !== undefined)) return false;
  return keysLost(gone.map(readAlone), came).length > 0;
}
