import { type Diagnostic, identityText, type Origin } from "../../base/diagnostic.ts";
import type { ToolInput } from "../documents/foreign-document.ts";
import { meantKeys } from "../documents/unknown-kind.ts";
import type { ClosedObject } from "../fail-closed/closed-object.ts";
import { clusterFile, isSettings, type LoadedDirectory, type SourceFile } from "./directory.ts";
import type { FileKeys, FolderKeys } from "./folder-keys.ts";
import type { FolderLists, Lists } from "./folder-lists.ts";
import type { ToolInputs } from "./tool-inputs.ts";

/** What a folder says, as texts: everything that has to be stored for it to be read alike by whoever reads it. */
export interface FolderTexts {
  readonly files: readonly FolderFile[];
  /** Lists that the files stand in, one after the other, no name twice; absent: they stand in one. */
  readonly runs?: readonly (readonly FolderFile[])[];
  /** Sorted by key and file. */
  readonly kept: readonly KeptText[];
}

export interface FolderFile extends SourceFile {
  /** Somebody is writing the file: the text is the one before. */
  readonly halfSaved?: boolean;
}

/** The file and text in which an object was last valid that is refused now. */
export interface KeptText extends SourceFile {
  /** As `identityText` writes it; empty for settings and clusters, which are kept by the file. */
  readonly key: string;
}

/** A folder as last read: each file by itself, so that the next reading costs what changed. */
export interface FolderState {
  /** Put before a file's name in origins. */
  readonly under: string;
  readonly parts: readonly FolderPart[];
  /** All files by their names: put together when they are first asked for, since who only goes over them needs none. */
  readonly files: () => FilesByName;
  readonly kept: readonly KeptState[];
  readonly inputs: ToolInputs;
  readonly keys: FolderKeys;
  readonly said: FolderLists;
}

export type FilesByName = ReadonlyMap<string, FileState>;

/** Files of a folder that stand next to each other. What they say together is made once, when it is first asked for. */
export interface FolderPart {
  /** The very list that it was made of, where it was made of nothing else; a folder that has it again has the part again. */
  readonly given: readonly FolderFile[] | undefined;
  readonly files: readonly NamedFile[];
  read(): ReadPart;
}

export type NamedFile = readonly [string, FileState];

/** What the files of a part say, one after the other. */
export interface ReadPart extends Lists {
  readonly keys: readonly FileKeys[];
  /** Of refused security objects. */
  readonly closed: readonly ClosedObject[];
  /** Those that mean something as a whole. */
  readonly wholes: readonly (readonly [string, ReadFile])[];
  /** Those of which there is something to be said. */
  readonly speaking: readonly ReadFile[];
  /** Those that are not served as they were written. */
  readonly unsettled: readonly NamedFile[];
}

export interface FileState {
  readonly text: string;
  readonly halfSaved: boolean;
  readonly problem: string | undefined;
  /** As which other files of the folder had it read; undefined: as what it says itself. */
  readonly input: ToolInput | undefined;
  read(): ReadFile;
}

export interface KeptState extends KeptText {
  read(): ReadFile;
}

export interface ReadFile extends LoadedDirectory {
  readonly keys: FileKeys;
}

/** Whatever was read from a place, by its key. */
export interface Placed {
  readonly origin: Origin;
}
export const keyOf = ({ origin }: Placed): string => identityText(origin.key);

export const keysIn = ({ keys }: ReadFile): readonly string[] => [...keys.configs, ...keys.objects];

/** Codes of infos that are said of templates: what a file held before may be what it is to hold. */
const templateCodes: ReadonlySet<string> = new Set(["unfilled-variables", "helm-template"]);

/** What is said of objects that are refused: errors, and that a template is not filled in yet. */
export const errorsIn = ({ diagnostics }: LoadedDirectory): readonly Diagnostic[] =>
  diagnostics.filter(({ severity, code }) => severity === "error" || templateCodes.has(code));

/** The keys of what an error refuses: an object whose kind or group is misspelt stands for the one that it is meant to be. */
export function refusedKeys({ code, origin }: Diagnostic): readonly string[] {
  return [origin.key, ...(code === "unknown-kind" ? meantKeys(origin.key) : [])].map(identityText);
}

/** Whether it is not known what a file holds: it cannot be opened, or its text is none that can be read. */
export const isUnreadable = ({ problem, read }: FileState): boolean =>
  problem !== undefined || errorsIn(read()).some(({ origin }) => origin.key.kind === "");

/** Folders among the files that cannot be read. */
export const unreadableFolders = (files: readonly SourceFile[]): readonly SourceFile[] =>
  files.filter(({ file, problem }) => problem !== undefined && file.endsWith("/"));

/** Whether a file lies under a folder that cannot be read, so that it may be there and be what it was. */
export const isHidden = (file: string, folders: readonly SourceFile[]): boolean =>
  folders.some((folder) => file.startsWith(folder.file));

/** Files that mean something as a whole; their errors keep the whole file. */
export const isWhole = (file: string): boolean => isSettings(file) || clusterFile.test(file);
