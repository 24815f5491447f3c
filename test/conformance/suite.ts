import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { byCodePoint } from "../../lib/base/diagnostic.ts";
import { groupOf } from "./groups.ts";
import type { CaseOutcome, FileOutcome } from "./outcome.ts";
import { caseNames } from "./store/case-store.ts";

/** Where the cases of a suite lie. */
export interface SuiteFolders {
  readonly name: string;
  /** Folders of cases. A case that is in several is taken from the first of them. */
  readonly dirs: readonly string[];
  /** Finds the cases of a suite with another layout; absent: one folder each. */
  folders?(dir: string): readonly CaseFolder[];
}

/** A kind of conformance cases: how the folders of one layout are run. */
export interface Suite extends SuiteFolders {
  /**
   * Runs one case folder. Whatever it throws costs that case only.
   *
   * @param withStatus compare also what is written to objects, where a case says it
   */
  run(folder: CaseFolder, withStatus: boolean): CaseOutcome | Promise<CaseOutcome>;
  /** What there is to compare in a case, for one that threw. */
  filesOf(folder: CaseFolder): readonly Pick<FileOutcome, "proxy" | "file">[];
}

/** One case on disk, found but not read. */
export interface CaseFolder {
  readonly suite: string;
  readonly name: string;
  readonly group: string;
  readonly path: string;
}

/** All cases of a suite by name, in other folders of its layout if they are named. */
export function foldersOf(suite: SuiteFolders, dirs: readonly string[] = suite.dirs): readonly CaseFolder[] {
  const found = new Map<string, CaseFolder>();
  for (const dir of dirs) {
    for (const folder of suite.folders?.(dir) ?? caseFolders(suite.name, dir)) {
      if (!found.has(folder.name)) found.set(folder.name, folder);
    }
  }
  return [...found.values()].sort((a, b) => byCodePoint(a.name, b.name));
}

function caseFolders(suite: string, dir: string): readonly CaseFolder[] {
  return caseNames(dir).map((name) => {
    const path = join(dir, name);
    const about = join(path, "about.txt");
    return { suite, name, path, group: groupOf(existsSync(about) ? readFileSync(about, "utf8") : "") };
  });
}

/** Runs one case; an exception in it becomes its outcome, with every expected file counted as differing. */
export async function runCase(suite: Suite, folder: CaseFolder, withStatus = false): Promise<CaseOutcome> {
  try {
    return await suite.run(folder, withStatus);
  } catch (error) {
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    const files = suite.filesOf(folder).map((file) => ({ ...file, differences: [] }));
    return { ...folder, files, error: text.split("\n").slice(0, 4).join("\n    ") };
  }
}
