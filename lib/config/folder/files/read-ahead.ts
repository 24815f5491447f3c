import type { SourceFile } from "../directory.ts";
import { folderPart } from "../folder-part.ts";
import type { FolderState, NamedFile } from "../folder-state.ts";
import { noFolder } from "../last-valid.ts";
import { readerOf } from "./read-file.ts";

/**
 * Files that are read while something else is waited for, by whoever will read their folder soon and has read nothing of it before. A folder
 * that holds one of them with the same text does not read it again.
 */
export interface ReadAhead {
  /** Reads a file, unless the folder was read. */
  read(file: SourceFile): void;
  /** @returns a folder, at the top of its source, that holds what was read; nothing of it is held here any more */
  take(): FolderState;
}

export function createReadAhead(): ReadAhead {
  let files: Map<string, NamedFile> | undefined = new Map();
  return {
    read({ file, text, problem }) {
      if (files === undefined) return;
      const read = readerOf(noFolder, undefined, { file, text });
      read();
      files.set(file, [file, { text, halfSaved: false, problem, input: undefined, read }]);
    },
    take() {
      const taken = [...(files?.values() ?? [])];
      files = undefined;
      return { ...noFolder, parts: [folderPart(taken)], files: () => new Map(taken) };
    },
  };
}
