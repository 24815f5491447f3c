import { keyText, type Origin } from "../../base/diagnostic.ts";
import { sha256 } from "../../config/canonical-json.ts";
import type { SourceFile } from "../../config/folder/directory.ts";
import { readAlone } from "../../config/folder/last-valid.ts";
import { inParallel } from "../../storage/in-parallel.ts";
import type { ObjectStore } from "../../storage/object-store.ts";
import { openList } from "./lists/open-list.ts";
import type { KeptEntry } from "./lists/shard-list.ts";
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
  // What is served in its last valid form goes with its file too; the text is one in which other objects may say what they say no more.
  const kept = before.list.kept.filter(({ file, hash }) => isReplaced(texts.get(file), hash));
  const originsIn = async ({ file, hash }: Pick<KeptEntry, "file" | "hash">): Promise<readonly Origin[]> => {
    const { configs, objects } = readAlone({ file, text: (await textOf(hash)) ?? "" });
    return [...configs, ...objects].map(({ origin }) => origin);
  };
  const ofKept = await inParallel(kept, async (entry) =>
    (await originsIn(entry)).filter(({ key }) => keyText(key) === entry.key),
  );
  const all = [...ofKept, ...(await inParallel(replaced, originsIn))].flat();
  return [...new Map(all.map((origin) => [keyText(origin.key), origin])).values()];
}
