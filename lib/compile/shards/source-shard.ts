import { sha256 } from "../../config/canonical-json.ts";
import type { LoadedDirectory } from "../../config/folder/directory.ts";
import type { FolderFile, FolderTexts, KeptText } from "../../config/folder/folder-state.ts";
import { emptyFolder, folderOf } from "../../config/folder/last-valid.ts";
import { wholeFolder } from "../../config/folder/whole-folder.ts";
import { joinLists } from "../../config/join-lists.ts";
import { encodeKeyPart, type ObjectStore } from "../../storage/object-store.ts";

/** One source of input as it lies in the store: its texts, each under its own hash, and their list, which changes at once. */
export interface SourceShard {
  readonly name: string;
  /** Hash of the list: equal texts, equal version. */
  readonly version: string;
  readonly files: readonly ShardFile[];
  /** Where the list is stored in runs: the files of each, named as the compiler reads them. The same list as long as nothing in it changes. */
  readonly runs?: readonly (readonly FolderFile[])[];
  /** Last valid forms of what the files refuse; absent where there are none. */
  readonly kept?: readonly KeptText[];
  /** Somebody has said that the source may hold nothing. */
  readonly isMeantEmpty?: boolean;
}

export interface ShardFile extends FolderFile {
  /** Written by `apply`, object by object; the others are a folder's. */
  readonly applied?: boolean;
}

/** What is said where a run of a source's list is lost: whoever brings all of the source writes it again. */
export const lacksRun = (name: string): string => `source ${name} lacks a part of its list; fill it again`;

/** What is said where the list of a source is something else. */
export const notAList = (name: string): string => `source ${name} is no list of files`;

export const listKey = (name: string) => `sources/${encodeKeyPart(name)}/list`;
/** The same list, kept for as long as somebody may ask where an object of an earlier version stood. */
export const versionKey = (name: string, version: string) => `sources/${encodeKeyPart(name)}/versions/${version}`;
export const fileKey = (name: string, hash: string) => `sources/${encodeKeyPart(name)}/files/${hash}`;
/** What was applied is told from a folder's files by its name, also in messages. */
export const nameOf = ({ file, applied }: Pick<ShardFile, "file" | "applied">) =>
  applied === true ? `applied:${file}` : file;

/** The text of a file as it was written: a mark of the byte order, with which some editors begin, is part of it. */
export const textIn = (bytes: Uint8Array): string => new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);

/** @returns undefined when it is not there, or is not what was written */
export async function readText(store: ObjectStore, name: string, hash: string): Promise<string | undefined> {
  const found = await store.get(fileKey(name, hash));
  const text = found.kind === "found" ? textIn(found.bytes) : undefined;
  return text !== undefined && sha256(text) === hash ? text : undefined;
}

/** Texts of a source by their hashes. */
export type TextsByHash = Pick<ReadonlyMap<string, string>, "get">;

/** A source as the compiler reads it. */
export function textsOfShard({ files, runs, kept = [] }: Pick<SourceShard, "files" | "runs" | "kept">): FolderTexts {
  return runs === undefined ? { files: asNamed(files), kept } : { files: joinLists(runs), runs, kept };
}

/** Files under the names that the compiler knows them by: a folder's are called what they are called. */
export const asNamed = (files: readonly ShardFile[]): readonly FolderFile[] =>
  files.some(({ applied }) => applied === true) ? files.map((file) => ({ ...file, file: nameOf(file) })) : files;

/** What a source says, with the last valid forms of what it refuses. @param under put before the names of files in origins */
export const contentOfShard = (shard: Pick<SourceShard, "files" | "runs" | "kept">, under: string): LoadedDirectory =>
  wholeFolder(folderOf(textsOfShard(shard), emptyFolder(under)));
