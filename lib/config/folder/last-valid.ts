import { inDefault } from "../../base/diagnostic.ts";
import { joinLists } from "../join-lists.ts";
import type { SourceFile } from "./directory.ts";
import { isHalfSaved } from "./files/half-saved.ts";
import { readerOf } from "./files/read-file.ts";
import { createFolderKeys } from "./folder-keys.ts";
import { createFolderLists } from "./folder-lists.ts";
import { filesByName, folderPart } from "./folder-part.ts";
import {
  type FileState,
  type FilesByName,
  type FolderFile,
  type FolderPart,
  type FolderState,
  type FolderTexts,
  isHidden,
  type KeptState,
  type ReadFile,
  unreadableFolders,
} from "./folder-state.ts";
import { keptAfter } from "./kept-forms.ts";
import { withNewNames } from "./renamed-files.ts";
import { areSameInputs, noToolInputs, toolInputOf, toolInputsOf } from "./tool-inputs.ts";

/** @param under put before the names of files in origins: where the folder lies among others */
export const emptyFolder = (under: string): FolderState => ({
  under,
  parts: [],
  files: () => new Map(),
  kept: [],
  inputs: noToolInputs,
  keys: createFolderKeys(() => []),
  said: createFolderLists(() => []),
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
  earlier: FolderState,
  files: readonly SourceFile[],
  { halfSaves = true }: { readonly halfSaves?: boolean } = {},
): FolderState {
  const previous = withNewNames(earlier, files);
  const before = previous.files();
  const keptIn = keptByFile(previous);
  const texts = files.map(({ file, text, problem }) => {
    const last = before.get(file);
    const half = halfSaves && problem === undefined && last !== undefined && isHalfSaved(last.text, text);
    const whole = last !== undefined && (half || problem !== undefined) ? last.text : text;
    return { file, text: whole, halfSaved: half, problem };
  });
  const inputs = toolInputsOf(texts, previous.inputs);
  const now = new Map(
    texts.map(({ file, ...state }): readonly [string, FileState] => {
      const input = toolInputOf(inputs, file);
      const read = readerOf(keptIn(file), before.get(file), { file, text: state.text }, false, input);
      return [file, { ...state, input, read }];
    }),
  );
  const folders = unreadableFolders(files);
  for (const [file, state] of before) if (!now.has(file) && isHidden(file, folders)) now.set(file, state);
  return { ...ofParts(previous, [folderPart([...now])]), inputs, kept: keptAfter(previous, now) };
}

/**
 * The state of stored texts.
 *
 * @param previous of which what did not change is taken, objects and all
 * @param skipRules whether nothing is to be said of a file, by its name in origins: faults of it are not looked for
 */
export function folderOf(
  { files, runs = [files], kept }: FolderTexts,
  previous: FolderState = noFolder,
  skipRules: (file: string) => boolean = () => false,
): FolderState {
  const inputs = toolInputsOf(files, previous.inputs);
  // Where other files are inputs of tools, every file is looked at.
  const reused = areSameInputs(inputs, previous.inputs) ? previous.parts : [];
  const known = new Map(reused.map((part) => [part.given, part]));
  const there = new Set(reused.length === 0 ? [] : runs);
  const keptIn = keptByFile(previous);
  // Of parts that changed; a file that stands elsewhere now is read anew.
  const before = filesByName(previous.parts.filter(({ given }) => given === undefined || !there.has(given)));
  const stateOf = ({ file, text, halfSaved = false, problem }: FolderFile): FileState => {
    const last = before.get(file);
    const input = toolInputOf(inputs, file);
    const isSame =
      last?.text === text && last.halfSaved === halfSaved && last.problem === problem && last.input === input;
    if (isSame) return last;
    const read = readerOf(keptIn(file), last, { file, text }, skipRules(previous.under + file), input);
    return { text, halfSaved, problem, input, read };
  };
  const partOf = (run: readonly FolderFile[]): FolderPart =>
    known.get(run) ?? folderPart([...new Map(run.map((file) => [file.file, stateOf(file)]))], run);
  return {
    ...ofParts(previous, runs.map(partOf)),
    inputs,
    kept: kept.map(({ key, file, text }) => {
      const read = readerOf(keptIn(file), previous.files().get(file), { file, text });
      // Stores of before have them as they were written.
      return { key: inDefault(key), file, text, read };
    }),
  };
}

/** Of a folder what `readerOf` needs for one file: forms that are kept of another one are not gone over. */
function keptByFile({ under, kept }: FolderState): (file: string) => Pick<FolderState, "under" | "kept"> {
  const byFile = new Map<string, KeptState[]>();
  for (const form of kept) {
    const known = byFile.get(form.file);
    if (known === undefined) byFile.set(form.file, [form]);
    else known.push(form);
  }
  return (file) => ({ under, kept: byFile.get(file) ?? [] });
}

function ofParts(previous: FolderState, parts: readonly FolderPart[]): Omit<FolderState, "kept" | "inputs"> {
  let byName: FilesByName | undefined;
  return {
    under: previous.under,
    parts,
    files: () => {
      byName ??= filesByName(parts);
      return byName;
    },
    keys: createFolderKeys(() => joinLists(parts.map((part) => part.read().keys)), previous.keys),
    said: createFolderLists(() => parts.map((part) => part.read()), previous.said),
  };
}

/** A file by itself. */
export const readAlone = (file: SourceFile): ReadFile => readerOf(noFolder, undefined, file)();

/** What has to be stored of a state. */
export function textsOf({ files, kept }: FolderState): FolderTexts {
  return {
    files: [...files()].map(([file, { text, halfSaved, problem }]) => ({
      file,
      text,
      ...(halfSaved ? { halfSaved } : {}),
      ...(problem === undefined ? {} : { problem }),
    })),
    kept: kept.map(({ key, file, text }) => ({ key, file, text })),
  };
}
