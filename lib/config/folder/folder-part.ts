import type { Config } from "../config.ts";
import type { ParsedObject } from "../documents/parse.ts";
import type { FileKeys } from "./folder-keys.ts";
import { type FileState, type FilesByName, type FolderFile, isWhole, type ReadFile } from "./folder-state.ts";

/** Files of a folder that stand next to each other. What they say together is made once, when it is first asked for. */
export interface FolderPart {
  /** The very list that it was made of, where it was made of nothing else; a folder that has it again has the part again. */
  readonly given: readonly FolderFile[] | undefined;
  readonly files: readonly NamedFile[];
  read(): ReadPart;
}

type NamedFile = readonly [string, FileState];

/** What the files of a part say, one after the other. */
export interface ReadPart {
  readonly keys: readonly FileKeys[];
  readonly configs: readonly Config[];
  readonly objects: readonly ParsedObject[];
  readonly others: readonly ParsedObject[];
  /** Those that mean something as a whole. */
  readonly wholes: readonly (readonly [string, ReadFile])[];
  /** Those of which there is something to be said. */
  readonly speaking: readonly ReadFile[];
  /** Those that are not served as they were written. */
  readonly unsettled: readonly NamedFile[];
}

export function folderPart(files: readonly NamedFile[], given?: readonly FolderFile[]): FolderPart {
  let read: ReadPart | undefined;
  return {
    given,
    files,
    read() {
      read ??= readPart(files);
      return read;
    },
  };
}

function readPart(files: readonly NamedFile[]): ReadPart {
  const named = files.map(([file, state]) => [file, state.read()] as const);
  const reads = named.map(([, read]) => read);
  return {
    keys: reads.map(({ keys }) => keys),
    configs: reads.flatMap(({ configs }) => configs),
    objects: reads.flatMap(({ objects }) => objects),
    others: reads.flatMap(({ others }) => others),
    wholes: named.filter(([file]) => isWhole(file)),
    speaking: reads.filter(({ diagnostics }) => diagnostics.length > 0),
    unsettled: files.filter(([, { problem, halfSaved }]) => problem !== undefined || halfSaved),
  };
}

/** All files by their names, in their order. */
export const filesByName = (parts: readonly FolderPart[]): FilesByName => new Map(parts.flatMap(({ files }) => files));
