import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { groupOf } from "./groups.ts";
import type { CaseOutcome } from "./outcome.ts";

/** A kind of conformance cases: how the folders of one layout are run. */
export interface Suite {
  readonly name: string;
  /** Folder of cases in the shared data. */
  readonly dir: URL;
  /** Finds the cases of a suite with another layout; absent: one folder each, with `expected/`. */
  folders?(dir: string): readonly CaseFolder[];
  /** Runs one case folder. Whatever it throws costs that case only. */
  run(folder: CaseFolder): CaseOutcome | Promise<CaseOutcome>;
}

/** One case on disk, found but not read. */
export interface CaseFolder {
  readonly suite: string;
  readonly name: string;
  readonly group: string;
  readonly path: string;
}

/** All cases of a suite, in another folder of its layout if one is named. */
export function foldersOf(suite: Suite, dir: string = fileURLToPath(suite.dir)): readonly CaseFolder[] {
  return suite.folders === undefined ? caseFolders(suite.name, dir) : suite.folders(dir);
}

/** The case folders of a directory, by name; a folder without `expected/` is no case. */
export function caseFolders(suite: string, dir: string): readonly CaseFolder[] {
  return readdirSync(dir, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && existsSync(join(dir, entry.name, "expected")))
    .map((entry) => entry.name)
    .sort()
    .map((name) => {
      const path = join(dir, name);
      const about = join(path, "about.txt");
      return { suite, name, path, group: groupOf(existsSync(about) ? readFileSync(about, "utf8") : "") };
    });
}

/** Runs one case; an exception in it becomes its outcome, with every expected file counted as differing. */
export async function runCase(suite: Suite, folder: CaseFolder): Promise<CaseOutcome> {
  try {
    return await suite.run(folder);
  } catch (error) {
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    return { ...folder, files: expectedFiles(folder), error: text.split("\n").slice(0, 4).join("\n    ") };
  }
}

/** Every file under `expected/`, none where there is no such folder, a folder per proxy (files that stand in no folder belong to proxy ""). */
function expectedFiles(folder: CaseFolder): CaseOutcome["files"] {
  const expected = join(folder.path, "expected");
  if (!existsSync(expected)) return [{ proxy: "", file: "case.json", differences: [] }];
  return readdirSync(expected, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory()
      ? readdirSync(join(expected, entry.name)).map((file) => ({ proxy: entry.name, file, differences: [] }))
      : [{ proxy: "", file: entry.name, differences: [] }],
  );
}
