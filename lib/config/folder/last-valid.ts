import { readFiles, type SourceFile } from "./directory.ts";
import { createFolderKeys, type FolderKeys, sameKeys } from "./folder-keys.ts";
import {
  type FileState,
  type FolderState,
  type FolderTexts,
  keyOf,
  type Placed,
  type ReadFile,
} from "./folder-state.ts";
import { keptAfter } from "./kept-forms.ts";

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
 * mended or taken out: a slip of the pen never takes down what was served.
 *
 * @param files all files of the folder, in the order of their paths
 * @param options.halfSaves false where every file is known to be whole
 */
export function readAgain(
  previous: FolderState,
  files: readonly SourceFile[],
  { halfSaves = true }: { readonly halfSaves?: boolean } = {},
): FolderState {
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

/** Whether a file lies under a folder that cannot be read, so that it may be there and be what it was. */
export const isHidden = (file: string, files: readonly SourceFile[]): boolean =>
  files.some((one) => one.problem !== undefined && one.file.endsWith("/") && file.startsWith(one.file));

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

/**
 * Whether a text is the beginning of the one before and ends within a line, or is empty: somebody is writing it. Objects
 * taken out on purpose leave whole lines, or no file.
 */
export function isHalfSaved(before: string, now: string): boolean {
  return before.trim() !== "" && now.length < before.length && !now.endsWith("\n") && before.startsWith(now);
}

/** Reads a text when it is first asked for; objects that read as in the text before are the same objects. */
function readerOf(previous: FolderState, file: string, text: string): () => ReadFile {
  const inPlace = previous.files.get(file);
  if (inPlace?.text === text) return inPlace.read;
  const known = previous.kept.find((kept) => kept.file === file && kept.text === text);
  if (known !== undefined) return known.read;
  const { under } = previous;
  let before = inPlace?.read;
  let read: ReadFile | undefined;
  return () => {
    if (read === undefined) {
      const anew = readFiles([{ file, text }], { under });
      const keys = { configs: anew.configs.map(keyOf), objects: anew.objects.map(keyOf) };
      read = before === undefined ? { ...anew, keys } : withIdentities(before(), { ...anew, keys });
      before = undefined;
    }
    return read;
  };
}

const keysAfter = (previous: FolderState, now: ReadonlyMap<string, FileState>): FolderKeys =>
  createFolderKeys(() => Array.from(now.values(), ({ read }) => read().keys), previous.keys);

function withIdentities(before: ReadFile, now: ReadFile): ReadFile {
  return {
    ...now,
    keys: sameKeys(before.keys, now.keys),
    configs: sameWhereEqual(before.configs, now.configs),
    objects: sameWhereEqual(before.objects, now.objects),
  };
}

function sameWhereEqual<T extends Placed>(before: readonly T[], now: readonly T[]): readonly T[] {
  const earlier = new Map(before.map((object) => [keyOf(object), object] as const));
  return now.map((object) => {
    const old = earlier.get(keyOf(object));
    return old !== undefined && JSON.stringify(old) === JSON.stringify(object) ? old : object;
  });
}
