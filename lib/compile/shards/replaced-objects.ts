import { sha256 } from "../../config/canonical-json.ts";
import type { Origin } from "../../config/diagnostic.ts";
import type { SourceFile } from "../../config/folder/directory.ts";
import { readAlone } from "../../config/folder/last-valid.ts";
import { inParallel } from "../../storage/in-parallel.ts";
import type { ObjectStore } from "../../storage/object-store.ts";
import { openList } from "./open-list.ts";
import { listKey, readText, textIn } from "./source-shard.ts";

/**
 * The objects of those files of a source that a folder has in another form now, or not any more: some may be gone. To be asked before the
 * source is filled with it. What cannot be read is passed over.
 */
export async function replacedObjects(
  store: ObjectStore,
  name: string,
  files: readonly SourceFile[],
): Promise<readonly Origin[]> {
  const found = await store.get(listKey(name));
  const textOf = (hash: string): Promise<string | undefined> => readText(store, name, hash);
  const before = found.kind === "found" ? await openList(textIn(found.bytes), textOf) : undefined;
  if (before === undefined) return [];
  const texts = new Map(files.map(({ file, text }) => [file, text]));
  const isReplaced = (text: string | undefined, hash: string): boolean => text === undefined || sha256(text) !== hash;
  const replaced = before.list.files.filter(({ file, hash, applied }) => !applied && isReplaced(texts.get(file), hash));
  const read = await inParallel(replaced, async ({ file, hash }) =>
    readAlone({ file, text: (await textOf(hash)) ?? "" }),
  );
  return read.flatMap(({ configs, objects }) => [...configs, ...objects].map(({ origin }) => origin));
}
