/** Takes cases in the form that they are recorded in into the repository. */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { caseNames, expectedReader, writeSuite } from "./case-store.ts";
import { shareParts } from "./share-parts.ts";

/** Which cases of a folder are taken, and which are not ours to carry. */
export interface Imported {
  readonly taken: readonly string[];
  readonly left: readonly string[];
}

/**
 * Adds or replaces the cases of a folder, and says anew what they share with those that are there.
 *
 * @param source a folder for each case, with `expected/<proxy>/<type>.json`; may be the suite's own folder
 * @param suiteFolder where the suite's cases are kept
 * @param isOurs whether the repository may carry a case
 */
export function importCases(source: string, suiteFolder: string, isOurs: (name: string) => boolean): Imported {
  const read = expectedReader();
  const names = caseNames(source);
  const taken = names.filter(isOurs);
  const kept = caseNames(suiteFolder).filter((name) => !taken.includes(name));
  const answers = new Map([
    ...kept.map((name) => [name, read(join(suiteFolder, name))] as const),
    ...taken.map((name) => [name, read(join(source, name))] as const),
  ]);
  for (const name of taken)
    copyFiles(join(source, name), join(suiteFolder, name), (path) => !path.startsWith("expected"));
  writeSuite(suiteFolder, shareParts(answers));
  return { taken, left: names.filter((name) => !isOurs(name)) };
}

/** Copies the files of a folder that are wanted, as they lie, in the place of those that are there. */
export function copyFiles(from: string, to: string, isWanted: (path: string) => boolean): void {
  const paths = readdirSync(from, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(from, join(entry.parentPath, entry.name)));
  const texts = paths.filter(isWanted).map((path) => [path, readFileSync(join(from, path))] as const);
  rmSync(to, { recursive: true, force: true });
  for (const [path, bytes] of texts) {
    mkdirSync(dirname(join(to, path)), { recursive: true });
    writeFileSync(join(to, path), bytes);
  }
}
