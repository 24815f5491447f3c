import { sha256 } from "../../config/canonical-json.ts";
import { PortolanError } from "../../config/diagnostic.ts";
import type { LoadedDirectory } from "../../config/folder/directory.ts";
import type { FolderFile, FolderTexts, KeptText } from "../../config/folder/folder-state.ts";
import { emptyFolder, folderOf } from "../../config/folder/last-valid.ts";
import { wholeFolder } from "../../config/folder/whole-folder.ts";
import { inParallel } from "../../storage/in-parallel.ts";
import { encodeKeyPart, type ObjectStore } from "../../storage/object-store.ts";
import { readShardHead } from "../collected/shard-head.ts";
import { readList } from "./shard-list.ts";
import { versionText } from "./version-text.ts";

/** One source of input as it lies in the store: its texts, each under its own hash, and their list, which changes at once. */
export interface SourceShard {
  readonly name: string;
  /** Hash of the list: equal texts, equal version. */
  readonly version: string;
  readonly files: readonly ShardFile[];
  /** Last valid forms of what the files refuse; absent where there are none. */
  readonly kept?: readonly KeptText[];
  /** Somebody has said that the source may hold nothing. */
  readonly isMeantEmpty?: boolean;
}

export interface ShardFile extends FolderFile {
  /** Written by `apply`, object by object; the others are a folder's. */
  readonly applied?: boolean;
}

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

/** Texts of files by their hashes. */
export type TextsByHash = Pick<ReadonlyMap<string, string>, "get">;

/** Texts from one reading to the next. */
export interface TextMemory {
  readonly known: TextsByHash;
  /** What a reading has used is put here. */
  readonly used: Map<string, string>;
}

/**
 * Reads a source as it is now, or as it was in a version.
 *
 * @param texts those that need not be read again
 * @returns undefined when the source was never filled, or is a collector's
 * @throws PortolanError when what lies there is no list of files, or a text is missing or damaged
 */
export async function readShard(
  store: ObjectStore,
  name: string,
  version?: string,
  texts: TextMemory = { known: new Map(), used: new Map() },
): Promise<SourceShard | undefined> {
  const keys = { present: listKey(name), kept: versionKey(name, version ?? "") };
  const found = version === undefined ? await store.get(keys.present) : await versionText(store, keys, version);
  if (found?.kind !== "found") return undefined;
  const text = new TextDecoder().decode(found.bytes);
  const list = readList(text);
  if (list === undefined && version !== undefined && readShardHead(text) !== undefined) return undefined;
  if (list === undefined) throw new PortolanError(`source ${name} is no list of files`);
  const named = [...list.files, ...list.kept];
  const unknown = new Map<string, string>();
  for (const { file, hash } of named) {
    const known = texts.known.get(hash);
    if (known === undefined) unknown.set(hash, file);
    else texts.used.set(hash, known);
  }
  await inParallel(unknown, async ([hash, file]) => {
    const content = await readText(store, name, hash);
    if (content === undefined) throw new PortolanError(`source ${name} lacks the content of ${file}; fill it again`);
    texts.used.set(hash, content);
  });
  const textOf = (hash: string): string => texts.used.get(hash) ?? "";
  const files = list.files.map(({ file, hash, applied, halfSaved, problem }) => ({
    file,
    text: textOf(hash),
    ...(applied ? { applied } : {}),
    ...(halfSaved ? { halfSaved } : {}),
    ...(problem === undefined ? {} : { problem }),
  }));
  const kept = list.kept.map(({ key, file, hash }) => ({ key, file, text: textOf(hash) }));
  return {
    name,
    version: sha256(text),
    files,
    ...(kept.length === 0 ? {} : { kept }),
    ...(list.isMeantEmpty ? { isMeantEmpty: true } : {}),
  };
}

/** A source as the compiler reads it. */
export function textsOfShard({ files, kept = [] }: Pick<SourceShard, "files" | "kept">): FolderTexts {
  return { files: files.map((file) => ({ ...file, file: nameOf(file) })), kept };
}

/** What a source says, with the last valid forms of what it refuses. @param under put before the names of files in origins */
export const contentOfShard = (shard: Pick<SourceShard, "files" | "kept">, under: string): LoadedDirectory =>
  wholeFolder(folderOf(textsOfShard(shard), emptyFolder(under)));
