import {
  type FilesByName,
  type FolderFile,
  type FolderPart,
  isWhole,
  type NamedFile,
  type ReadPart,
} from "./folder-state.ts";

/** @param given the very list that the files were made of; absent: they were made of more than that */
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
    closed: reads.flatMap(({ closed }) => closed),
    wholes: named.filter(([file]) => isWhole(file)),
    speaking: reads.filter(({ diagnostics }) => diagnostics.length > 0),
    unsettled: files.filter(([, { problem, halfSaved }]) => problem !== undefined || halfSaved),
  };
}

/** All files by their names, in their order. */
export const filesByName = (parts: readonly FolderPart[]): FilesByName => new Map(parts.flatMap(({ files }) => files));
