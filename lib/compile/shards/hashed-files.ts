import { sha256 } from "../../config/canonical-json.ts";
import { withValues } from "../../config/changed-places.ts";
import type { SourceFile } from "../../config/folder/directory.ts";
import type { HashedFile } from "./next-list.ts";
import { inOrder } from "./pair-up.ts";

/** Files as they were given, whatever becomes of the list, each with where it stands among those in order. */
interface Given {
  readonly files: readonly SourceFile[];
  readonly places: readonly number[];
}

/**
 * Hashes files that are given time after time. One that is what it was is the same object: texts are compared in a tenth of the time that
 * it takes to hash them.
 *
 * @returns a function that gives them in the order of their names
 */
export function createFileHasher(): (files: readonly SourceFile[]) => readonly HashedFile[] {
  let last: readonly HashedFile[] = [];
  /** Of files each of which has a name of its own. */
  let given: Given | undefined;
  return (files) => {
    const others = given && namedAlike(given.files, files);
    if (given !== undefined && others !== undefined) {
      // Where no file has come or gone, each is where its name was: nothing is to be looked up, or sorted.
      const places = others.map((at) => given?.places[at] ?? 0);
      const hashed = others.map((at, other) => hashedFile(files[at] as SourceFile, last[places[other] ?? 0]));
      last = withValues(last, places, hashed);
      given = { files: [...files], places: given.places };
      return last;
    }
    const before = new Map(last.map((file) => [file.file, file]));
    last = inOrder(files.map((file) => hashedFile(file, before.get(file.file))));
    const places = new Map(last.map(({ file }, at) => [file, at]));
    given =
      places.size === files.length
        ? { files: [...files], places: files.map(({ file }) => places.get(file) ?? 0) }
        : undefined;
    return last;
  };
}

/** Where files are others than before; undefined where one of them has another name. */
function namedAlike(before: readonly SourceFile[], files: readonly SourceFile[]): readonly number[] | undefined {
  if (before.length !== files.length) return undefined;
  const others: number[] = [];
  for (let at = 0; at < files.length; at++) {
    if (before[at] === files[at]) continue;
    if (before[at]?.file !== files[at]?.file) return undefined;
    others.push(at);
  }
  return others;
}

/** @param before of the same name */
function hashedFile(file: SourceFile, before: HashedFile | undefined): HashedFile {
  if (before?.text !== file.text) return { ...file, hash: sha256(file.text) };
  const isSame = before.problem === file.problem && before.under === file.under;
  return isSame ? before : { ...file, hash: before.hash };
}
