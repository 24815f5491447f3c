import { existsSync } from "node:fs";
import { join, relative } from "node:path";
import type { Diagnostic } from "../../base/diagnostic.ts";
import type { SourceFile } from "../../config/folder/directory.ts";
import { readDevStore } from "../dev-stores.ts";
import { atFields } from "./field-lines.ts";

/** A folder whose files fill a source, and what the source's name puts before theirs in messages; "" for the primary source. */
export interface SourceFolder {
  readonly folder: string;
  readonly prefix: string;
}

/** Messages with the lines of their fields, in files as they are named from the working directory. */
export function locatedIn(
  where: SourceFolder,
  files: readonly SourceFile[],
  messages: readonly Diagnostic[],
): readonly Diagnostic[] {
  const named = files.map((file) => ({ ...file, under: where.prefix }));
  return namedFrom(where, filesOf(where, files, messages), atFields(messages, named));
}

/** The files of a folder that messages name, without the prefix of their source. */
export function filesOf(
  { prefix }: Pick<SourceFolder, "prefix">,
  files: readonly SourceFile[],
  messages: readonly Diagnostic[],
): readonly string[] {
  const own = new Set(files.map(({ file }) => file));
  const named = new Set(messages.map(({ origin }) => origin.file));
  return [...named]
    .filter((name) => name.startsWith(prefix))
    .map((name) => name.slice(prefix.length))
    .filter((name) => own.has(name));
}

/** The same messages, with the folder's path before the names of its files. @param files of the folder, as they are named in it */
export function namedFrom(
  { folder, prefix }: SourceFolder,
  files: readonly string[],
  messages: readonly Diagnostic[],
): readonly Diagnostic[] {
  const own = new Map(files.map((file) => [prefix + file, join(folder, file)]));
  return messages.map((message) => {
    const file = own.get(message.origin.file);
    return file === undefined ? message : { ...message, origin: { ...message.origin, file } };
  });
}

/** Messages about what a store holds, in files as they are named from the working directory, where it is a store of `portolan dev FOLDER`. */
export async function namedHere(store: string, messages: readonly Diagnostic[]): Promise<readonly Diagnostic[]> {
  const { note } = await readDevStore(store);
  if (note?.folder === undefined) return messages;
  const folder = relative(process.cwd(), note.folder);
  const files = new Set(messages.map(({ origin }) => origin.file));
  const own = [...files].filter((file) => file !== "" && existsSync(join(folder, file)));
  return namedFrom({ folder, prefix: "" }, own, messages);
}
