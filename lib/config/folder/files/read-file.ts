import type { ToolInput } from "../../documents/foreign-document.ts";
import { readFiles, type SourceFile } from "../directory.ts";
import { sameKeys } from "../folder-keys.ts";
import { type FileState, type FolderState, keyOf, type Placed, type ReadFile } from "../folder-state.ts";

/**
 * Reads a text when it is first asked for; objects that read as in the text before are the same objects.
 *
 * @param inPlace the file as it was
 * @param skipRules as `ReadOptions` has it
 * @param input what other files say of it
 */
export function readerOf(
  { under, kept }: Pick<FolderState, "under" | "kept">,
  inPlace: FileState | undefined,
  { file, text }: Pick<SourceFile, "file" | "text">,
  skipRules = false,
  input?: ToolInput,
): () => ReadFile {
  if (inPlace?.text === text && inPlace.input === input) return inPlace.read;
  const known = input !== undefined ? undefined : kept.find((form) => form.file === file && form.text === text);
  if (known !== undefined) return known.read;
  let before = inPlace?.read;
  let read: ReadFile | undefined;
  return () => {
    if (read === undefined) {
      // Whoever stores a text, or compiles one that is not stored, has left out the symmetric keys that the folder's settings do not allow.
      // Types that are not known are accepted, or not, where the world is made.
      const anew = readFiles([{ file, text }], {
        under,
        inputOf: () => input,
        skipRules,
        inlineSymmetricKeys: "allow",
        acceptUnknownTypes: true,
      });
      const keys = { configs: anew.configs.map(keyOf), objects: anew.objects.map(keyOf) };
      read = before === undefined ? { ...anew, keys } : withIdentities(before(), { ...anew, keys });
      before = undefined;
    }
    return read;
  };
}

function withIdentities(before: ReadFile, now: ReadFile): ReadFile {
  return {
    ...now,
    keys: sameKeys(before.keys, now.keys),
    configs: sameWhereEqual(before.configs, now.configs),
    objects: sameWhereEqual(before.objects, now.objects),
    closed: sameWhereEqual(before.closed, now.closed),
  };
}

function sameWhereEqual<T extends Placed>(before: readonly T[], now: readonly T[]): readonly T[] {
  const earlier = new Map(before.map((object) => [keyOf(object), object] as const));
  return now.map((object) => {
    const old = earlier.get(keyOf(object));
    return old !== undefined && JSON.stringify(old) === JSON.stringify(object) ? old : object;
  });
}
