import { type Diagnostic, errorsOf, fileOrigin, keyText, type Origin } from "../diagnostic.ts";
import { meantKeys } from "../documents/unknown-kind.ts";
import { defaultMeshConfig } from "../kinds/mesh-config.ts";
import { noMeshNetworks } from "../kinds/mesh-networks.ts";
import { noFolderSettings } from "../kinds/stated-endpoints.ts";
import { type LoadedDirectory, readFiles, type SourceFile, unreadableFile } from "./directory.ts";
import { createFolderKeys, type FileKeys, type FolderKeys, sameKeys } from "./folder-keys.ts";
import { duplicateObject } from "./sort-objects.ts";

/** What a folder says, as texts: everything that has to be stored for it to be read alike by whoever reads it. */
export interface FolderTexts {
  readonly files: readonly FolderFile[];
  /** Sorted by key and file. */
  readonly kept: readonly KeptText[];
}

export interface FolderFile extends SourceFile {
  /** Somebody is writing the file: the text is the one before. */
  readonly halfSaved?: boolean;
}

/** The file and text in which an object was last valid that is refused now. */
export interface KeptText extends SourceFile {
  /** As `keyText` writes it; empty for settings and clusters, which are kept by the file. */
  readonly key: string;
}

/** A folder as last read: each file by itself, so that the next reading costs what changed. */
export interface FolderState {
  /** Put before a file's name in origins. */
  readonly under: string;
  readonly files: ReadonlyMap<string, FileState>;
  readonly kept: readonly KeptState[];
  readonly keys: FolderKeys;
}

interface FileState {
  readonly text: string;
  readonly halfSaved: boolean;
  readonly problem: string | undefined;
  read(): ReadFile;
}

interface KeptState extends KeptText {
  read(): ReadFile;
}

interface ReadFile extends LoadedDirectory {
  readonly keys: FileKeys;
}

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
    files.map(({ file, text, halfSaved = false, problem }) => [
      file,
      { text, halfSaved, problem, read: readerOf(previous, file, text) },
    ]),
  );
  return {
    under: previous.under,
    files: now,
    keys: keysAfter(previous, now),
    kept: kept.map(({ key, file, text }) => ({ key, file, text, read: readerOf(previous, file, text) })),
  };
}

/** Whether a file holds anything that is refused. */
export const hasErrors = (file: SourceFile): boolean => errorsIn(readFiles([file])).length > 0;

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

/** Whatever was read from a place, by its key. */
interface Placed {
  readonly origin: Origin;
}
const keyOf = ({ origin }: Placed): string => keyText(origin.key);

const keysIn = ({ keys }: ReadFile): readonly string[] => [...keys.configs, ...keys.objects];

const errorsIn = ({ diagnostics }: LoadedDirectory): readonly Diagnostic[] => errorsOf(diagnostics);

/** The keys of what an error refuses: an object whose kind or group is misspelt stands for the one that it is meant to be. */
function refusedKeys({ code, origin }: Diagnostic): readonly string[] {
  return [origin.key, ...(code === "unknown-kind" ? meantKeys(origin.key) : [])].map(keyText);
}

/** Files that mean something as a whole; their errors keep the whole file. */
const isWhole = (file: string): boolean =>
  file === meshFile || file === networksFile || file === settingsFile || /^clusters\/[^/]+\.(?:ya?ml|json)$/.test(file);
const meshFile = "mesh.yaml";
const networksFile = "networks.yaml";
const settingsFile = "portolan.yaml";

/** The last valid forms of what is refused now. */
function keptAfter(previous: FolderState, now: ReadonlyMap<string, FileState>): readonly KeptState[] {
  if (previous.kept.length === 0 && !mayLose(previous.files, now)) return [];

  const valid = new Set([...now.values()].flatMap(({ read }) => keysIn(read())));
  const { refused, unreadable } = refusalsIn(now);
  const before = previous.kept.length === 0 ? noRefusals : refusalsIn(previous.files);
  // One that is kept already may have been refused elsewhere than where it was valid, or stand where nobody can read it.
  const mayStand = ({ key, file }: KeptText): boolean =>
    unreadable.has(file) || [...(before.refused.get(key) ?? before.unreadable)].some((one) => unreadable.has(one));
  return earlierForms(previous, now)
    .filter((form) => !valid.has(form.key) && (refused.has(form.key) || mayStand(form)))
    .sort((a, b) => (a.key === b.key ? compare(a.file, b.file) : compare(a.key, b.key)));
}

interface Refusals {
  /** Key of an object to the files that hold a form of it that is refused. */
  readonly refused: ReadonlyMap<string, ReadonlySet<string>>;
  /** Files of which it is not known what they hold. */
  readonly unreadable: ReadonlySet<string>;
}

const noRefusals: Refusals = { refused: new Map(), unreadable: new Set() };

function refusalsIn(files: ReadonlyMap<string, FileState>): Refusals {
  const refused = new Map<string, Set<string>>();
  const unreadable = new Set<string>();
  for (const [file, { read }] of files) {
    for (const error of errorsIn(read())) {
      if (error.origin.key.kind === "" || isWhole(file)) unreadable.add(file);
      else for (const key of refusedKeys(error)) refused.set(key, (refused.get(key) ?? new Set()).add(file));
    }
  }
  return { refused, unreadable };
}

/** Whether an object may be refused now that was valid: where a file came to hold an error, or where one went that stands elsewhere with an error. */
function mayLose(before: FolderState["files"], now: FolderState["files"]): boolean {
  if (before.size === 0) return false;
  const isErroneous = ({ read }: FileState): boolean => errorsIn(read()).length > 0;
  const changed = [...now].filter(([file, { text }]) => before.get(file)?.text !== text).map(([, state]) => state);
  if (changed.some(isErroneous)) return true;
  const left = new Set(changed.flatMap(({ read }) => keysIn(read())));
  const gone = [...before].filter(([file, { text }]) => now.get(file)?.text !== text);
  const isLess = gone.some(([, { read }]) => keysIn(read()).some((key) => !left.has(key)));
  return isLess && [...now.values()].some(isErroneous);
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** What the state before had in a valid form, and may have no more: one for each key. */
function earlierForms(previous: FolderState, now: ReadonlyMap<string, FileState>): readonly KeptState[] {
  const gone = [...previous.files].filter(([file, { text }]) => now.get(file)?.text !== text);
  const forms = gone.flatMap(([file, { text, read }]) => {
    if (isWhole(file)) return errorsIn(read()).length === 0 ? [{ key: "", file, text, read }] : [];
    return keysIn(read()).map((key) => ({ key, file, text, read }));
  });
  const byKey = new Map(
    [...previous.kept, ...forms].map((form) => [`${form.key}\n${form.key === "" ? form.file : ""}`, form]),
  );
  return [...byKey.values()];
}

/**
 * What several folders say together. The settings are those of the first; of two objects with one key the later one counts.
 */
export function joinFolders(folders: readonly LoadedDirectory[]): LoadedDirectory {
  const [first] = folders;
  if (first !== undefined && folders.length === 1) return first;
  const configs = latestOf(folders.map((folder) => folder.configs));
  const objects = latestOf(folders.map((folder) => folder.objects));
  const clusters = Map.groupBy(
    folders.flatMap((folder) => folder.clusters),
    ({ id }) => id,
  );
  return {
    configs: configs.list,
    objects: objects.list,
    others: folders.flatMap(({ others }) => others),
    clusters: [...clusters].map(([id, parts]) => ({ id, objects: parts.flatMap((part) => part.objects) })),
    meshConfig: first?.meshConfig ?? defaultMeshConfig,
    meshNetworks: first?.meshNetworks ?? noMeshNetworks,
    settings: joinedSettings(folders),
    diagnostics: [...folders.flatMap(({ diagnostics }) => diagnostics), ...configs.diagnostics, ...objects.diagnostics],
  };
}

/** Those of the first, with the proxies that any of them names. */
function joinedSettings(folders: readonly LoadedDirectory[]): LoadedDirectory["settings"] {
  const [first, ...others] = folders.map(({ settings }) => settings);
  const proxies = [first, ...others].flatMap((settings) => settings?.proxies ?? []);
  return { ...(first ?? noFolderSettings), ...(proxies.length === 0 ? {} : { proxies }) };
}

/** Everything that the folder says now, with the last valid forms of what it refuses, and a warning for each of those. */
export function wholeFolder({ under, files, kept, keys }: FolderState): LoadedDirectory {
  const reads = [...files].map(([file, { read }]) => [file, read()] as const);
  const instead = new Map(kept.filter(({ key }) => key === "").map(({ file, read }) => [file, read()] as const));
  const wholeOf = (file: string) => instead.get(file) ?? files.get(file)?.read();
  const areDistinct = keys.areDistinct();
  const configs = latest(
    reads.flatMap(([, read]) => read.configs),
    areDistinct,
  );
  const objects = latest(
    reads.flatMap(([, read]) => read.objects),
    areDistinct,
  );
  const keptConfigs = pick(kept, configs.list, ({ configs: list }) => list);
  const keptObjects = pick(kept, objects.list, ({ objects: list }) => list);
  const errors = reads.flatMap(([, read]) => errorsIn(read));
  const refusals = new Map(errors.flatMap((error) => refusedKeys(error).map((key) => [key, error.origin] as const)));
  return {
    configs: [...configs.list, ...keptConfigs],
    objects: [...objects.list, ...keptObjects],
    others: reads.flatMap(([, read]) => read.others),
    clusters: reads.flatMap(([file, read]) => (instead.get(file) ?? read).clusters),
    meshConfig: wholeOf(meshFile)?.meshConfig ?? defaultMeshConfig,
    meshNetworks: wholeOf(networksFile)?.meshNetworks ?? noMeshNetworks,
    settings: wholeOf(settingsFile)?.settings ?? noFolderSettings,
    diagnostics: [
      ...reads.flatMap(([, read]) => read.diagnostics),
      ...configs.diagnostics,
      ...objects.diagnostics,
      ...[...files].flatMap(([file, { problem }]) =>
        problem === undefined ? [] : [unreadableFile(under + file, problem)],
      ),
      ...[...files].filter(([, { halfSaved }]) => halfSaved).map(([file]) => halfSavedWarning(under + file)),
      ...[...keptConfigs, ...keptObjects].map((object) => keptWarning(refusals.get(keyOf(object)) ?? object.origin)),
      ...[...instead.keys()].map((file) => keptWarning(fileOrigin(under + file))),
    ],
  };
}

/** The same, of lists that have each key once; what only one of them fills needs no look at its keys. */
function latestOf<T extends Placed>(lists: readonly (readonly T[])[]): ReturnType<typeof latest<T>> {
  const filled = lists.filter(({ length }) => length > 0);
  return latest(filled.length > 1 ? filled.flat() : (filled[0] ?? []), filled.length < 2, "warning");
}

/** One per key, the later one, at the place of the first. @param severity of one that is there twice */
function latest<T extends Placed>(
  list: readonly T[],
  areDistinct: boolean,
  severity: "error" | "warning" = "error",
): { readonly list: readonly T[]; readonly diagnostics: readonly Diagnostic[] } {
  if (areDistinct) return { list, diagnostics: [] };
  const byKey = new Map<string, T>();
  const diagnostics: Diagnostic[] = [];
  for (const object of list) {
    const key = keyOf(object);
    const earlier = byKey.get(key);
    if (earlier !== undefined) diagnostics.push(duplicateObject(earlier.origin, object.origin, severity));
    byKey.set(key, object);
  }
  return { list: [...byKey.values()], diagnostics };
}

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

/** @param origin of the refused form, or of the kept one where a whole file cannot be read */
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
