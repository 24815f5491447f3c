import { type Diagnostic, fileOrigin, type Origin } from "../diagnostic.ts";
import { defaultMeshConfig } from "../kinds/mesh-config.ts";
import { noMeshNetworks } from "../kinds/mesh-networks.ts";
import { noFolderSettings } from "../kinds/stated-endpoints.ts";
import {
  type LoadedDirectory,
  meshFile,
  networksFile,
  readFiles,
  type SourceFile,
  settingsFile,
  unreadableFile,
} from "./directory.ts";
import { createFolderKeys, type FolderKeys, sameKeys } from "./folder-keys.ts";
import {
  errorsIn,
  type FileState,
  type FolderState,
  type FolderTexts,
  type KeptState,
  keyOf,
  type Placed,
  type ReadFile,
  refusedKeys,
} from "./folder-state.ts";
import { latest } from "./join-folders.ts";
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
    files.map(({ file, text, problem }) => {
      const before = previous.files.get(file);
      const half = halfSaves && problem === undefined && before !== undefined && isHalfSaved(before.text, text);
      const whole = before !== undefined && (half || problem !== undefined) ? before.text : text;
      return [file, { text: whole, halfSaved: half, problem, read: readerOf(previous, file, whole) }] as const;
    }),
  );
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

/** Everything that the folder says now, with the last valid forms of what it refuses, and a warning for each of those. */
export function wholeFolder({ under, files, kept, keys }: FolderState): LoadedDirectory {
  const reads = Array.from(files.values(), ({ read }) => read());
  const instead = new Map(kept.filter(({ key }) => key === "").map(({ file, read }) => [file, read()] as const));
  const wholeOf = (file: string) => instead.get(file) ?? files.get(file)?.read();
  const areDistinct = keys.areDistinct();
  const configs = latest(
    reads.flatMap((read) => read.configs),
    areDistinct,
  );
  const objects = latest(
    reads.flatMap((read) => read.objects),
    areDistinct,
  );
  const keptConfigs = pick(kept, configs.list, ({ configs: list }) => list);
  const keptObjects = pick(kept, objects.list, ({ objects: list }) => list);
  const speaking = reads.filter(({ diagnostics }) => diagnostics.length > 0);
  const errors = speaking.flatMap(errorsIn);
  const refusals = new Map(errors.flatMap((error) => refusedKeys(error).map((key) => [key, error.origin] as const)));
  const unreadable = kept.length === 0 ? [] : [...files].filter(([, { read }]) => isUnreadable(read()));
  /** A line of what was there before would say nothing. */
  const hidden = ({ origin }: Placed): Origin => {
    const itsOwn = unreadable.find(([file]) => under + file === origin.file);
    const [file] = itsOwn ?? unreadable.find(([, { text }]) => text.includes(origin.key.name)) ?? [];
    return { ...origin, file: file === undefined ? origin.file : under + file, line: 0 };
  };
  return {
    configs: keptConfigs.length === 0 ? configs.list : [...configs.list, ...keptConfigs],
    objects: keptObjects.length === 0 ? objects.list : [...objects.list, ...keptObjects],
    others: reads.flatMap((read) => read.others),
    clusters: Array.from(files, ([file, { read }]) => (instead.get(file) ?? read()).clusters).flat(),
    meshConfig: wholeOf(meshFile)?.meshConfig ?? defaultMeshConfig,
    meshNetworks: wholeOf(networksFile)?.meshNetworks ?? noMeshNetworks,
    settings: wholeOf(settingsFile)?.settings ?? noFolderSettings,
    diagnostics: [
      ...speaking.flatMap(({ diagnostics }) => diagnostics),
      ...configs.diagnostics,
      ...objects.diagnostics,
      ...[...files].flatMap(([file, { problem }]) =>
        problem === undefined ? [] : [unreadableFile(under + file, problem)],
      ),
      ...[...files].filter(([, { halfSaved }]) => halfSaved).map(([file]) => halfSavedWarning(under + file)),
      ...[...keptConfigs, ...keptObjects].map((object) => keptWarning(refusals.get(keyOf(object)) ?? hidden(object))),
      ...[...instead.keys()].map((file) => keptWarning(fileOrigin(under + file))),
    ],
  };
}

const isUnreadable = (read: ReadFile): boolean => errorsIn(read).some(({ origin }) => origin.key.kind === "");

/** The kept objects of one sort, where none that is valid has taken their place. */
function pick<T extends Placed>(
  kept: readonly KeptState[],
  present: readonly T[],
  listOf: (read: LoadedDirectory) => readonly T[],
): readonly T[] {
  if (kept.length === 0) return [];
  const there = new Set(present.map(keyOf));
  return kept
    .filter(({ key }) => !there.has(key))
    .flatMap(({ key, read }) => listOf(read()).filter((object) => keyOf(object) === key));
}

function halfSavedWarning(file: string): Diagnostic {
  return {
    code: "half-saved",
    severity: "warning",
    origin: fileOrigin(file),
    path: [],
    message:
      "holds only the beginning of what it held, so it is taken as half saved; what it held goes on being served",
    hint: "save it whole; to take objects out, remove their lines or the file",
  };
}

/** @param origin of the refused form, or of what cannot be read */
function keptWarning(origin: Origin): Diagnostic {
  return {
    code: "last-valid-served",
    severity: "warning",
    origin,
    path: [],
    message: `${origin.key.kind === "" ? "what this file said" : "its form"} before goes on being served in place of what is refused`,
    hint: "mend it, or take it out; nothing was taken down",
  };
}
