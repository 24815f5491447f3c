import type { SourceFile } from "./directory.ts";
import { createFolderKeys, type FolderKeys } from "./folder-keys.ts";
import { type FileState, type FolderState, type FolderTexts, isHidden, type ReadFile } from "./folder-state.ts";
import { isHalfSaved } from "./half-saved.ts";
import { keptAfter } from "./kept-forms.ts";
import { readerOf } from "./read-file.ts";
import { withNewNames } from "./renamed-files.ts";

/** @param under put before the names of files in origins: where the folder lies among others */
export const emptyFolder = (under: string): FolderState => ({
  under,
  files: new Map(),
  kept: [],
  keys: createFolderKeys(() => []),
});

export const noFolder: FolderState = emptyFolder("");

/**
 * Reads the files of a folder again. A file with the same text keeps its objects; an object that reads the same keeps its
 * identity; and an object that is refused, or stands in a file that cannot be read, keeps its last valid form until it is
 * mended or taken out: a slip of the pen never takes down what was served. A file that is renamed meanwhile is the same one,
 * where that is known.
 *
 * @param files all files of the folder, in the order of their paths
 * @param options.halfSaves false where every file is known to be whole
 */
export function readAgain(
  last: FolderState,
  files: readonly SourceFile[],
  { halfSaves = true }: { readonly halfSaves?: boolean } = {},
): FolderState {
  const previous = withNewNames(last, files);
  const now = new Map(
    files.map(({ file, text, problem }): readonly [string, FileState] => {
      const before = previous.files.get(file);
      const half = halfSaves && problem === undefined && before !== undefined && isHalfSaved(before.text, text);
      const whole = before !== undefined && (half || problem !== undefined) ? before.text : text;
      return [file, { text: whole, halfSaved: half, problem, read: readerOf(previous, file, whole) }];
    }),
  );
  for (const [file, state] of previous.files) if (!now.has(file) && isHidden(file, files)) now.set(file, state);
  return { under: previous.under, files: now, kept: keptAfter(previous, now), keys: keysAfter(previous, now) };
}

/** The state of stored texts. @param previous of which what did not change is taken, objects and all */
export function folderOf({ files, kept }: FolderTexts, previous: FolderState = noFolder): FolderState {
  const now = new Map(
    files.map(({ file, text, halfSaved = false, problem }): readonly [string, FileState] => {
      const before = previous.files.get(file);
      const isSame = before?.text === text && before.halfSaved === halfSaved && before.problem === problem;
      return [file, isSame ? before : { text, halfSaved, problem, read: readerOf(previous, file, text) }];
    }),
  );
  return {
    under: previous.under,
    files: now,
    keys: keysAfter(previous, now),
    kept: kept.map(({ key, file, text }) => ({ key, file, text, read: readerOf(previous, file, text) })),
  };
}

/** A file by itself. */
export const readAlone = ({ file, text }: SourceFile): ReadFile => readerOf(noFolder, file, text)();

/** What has to be stored of a state. */
export function textsOf({ files, kept }: FolderState): FolderTexts {
  return {
    files: [...files].map(([file, { text, halfSaved, problem }]) => ({
      file,
      text,
      ...(halfSaved ? { halfSaved } : {}),
      ...(problem === undefined ? {} : { problem }),
    })),
    kept: kept.map(({ key, file, text }) => ({ key, file, text })),
  };
}

const keysAfter = (previous: FolderState, now: ReadonlyMap<string, FileState>): FolderKeys =>
  createFolderKeys(() => Array.from(now.values(), ({ read }) => read().keys), previous.keys);
