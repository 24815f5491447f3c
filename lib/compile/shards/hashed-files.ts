import { sha256 } from "../../config/canonical-json.ts";
import type { SourceFile } from "../../config/folder/directory.ts";
import type { HashedFile } from "./next-list.ts";
import { inOrder } from "./pair-up.ts";

/**
 * Hashes files that are given time after time. One that is what it was is the same object: texts are compared in a tenth of the time that
 * it takes to hash them.
 *
 * @returns a function that gives them in the order of their names
 */
export function createFileHasher(): (files: readonly SourceFile[]) => readonly HashedFile[] {
  let last: readonly HashedFile[] = [];
  /** Where each name stands in it. */
  let places: ReadonlyMap<string, number> = new Map();
  /** The same of files in the order in which they were given: mostly they come in it again, and no name is looked up. */
  let given: readonly { readonly file: string; readonly place: number }[] = [];
  return (files) => {
    const inPlace = [...last];
    const isTaken = new Uint8Array(last.length);
    let areThose = files.length === last.length;
    const placeOf = (file: string, at: number): number => {
      const same = given[at];
      return same?.file === file ? same.place : (places.get(file) ?? -1);
    };
    const hashed = files.map((file, at) => {
      const place = placeOf(file.file, at);
      const now = hashedFile(file, last[place]);
      if (isTaken[place] === 0) inPlace[place] = now;
      else areThose = false;
      isTaken[place] = 1;
      return now;
    });
    // Where no file has come or gone, each is where its name was: nothing is to be sorted.
    last = areThose ? inPlace : inOrder(hashed);
    if (areThose) return last;
    places = new Map(last.map(({ file }, at) => [file, at]));
    given = files.map(({ file }) => ({ file, place: places.get(file) ?? -1 }));
    return last;
  };
}

/** @param before of the same name */
function hashedFile(file: SourceFile, before: HashedFile | undefined): HashedFile {
  if (before?.text !== file.text) return { ...file, hash: sha256(file.text) };
  const isSame = before.problem === file.problem && before.under === file.under;
  return isSame ? before : { ...file, hash: before.hash };
}
